import { ENDS, FORWARD_STATUSES, type LiveStatus } from '@belay/workflow/adapter'
import { type SQL, sql } from 'drizzle-orm'

interface RunColumns {
  readonly status: unknown
  readonly stop: unknown
  readonly finishedAt: unknown
}

/** How a stopped run can end. */
export const STOPPED_ENDS = ENDS.filter((end) => end !== 'completed')

/** What the status of a run requires of its other columns. */
export function runFitsStatus({ status, stop, finishedAt }: RunColumns): SQL {
  return sql`case
    when ${finishedAt} is null and ${stop} is null then ${oneOf(status, FORWARD_STATUSES)}
    when ${finishedAt} is null then ${oneOf<LiveStatus>(status, ['compensating', 'compensation_failed', 'paused'])}
    when ${stop} is null then ${status} = 'completed'
    else ${oneOf(status, STOPPED_ENDS)} end`
}

interface StepColumns {
  readonly status: unknown
  readonly openDependencies: unknown
  readonly workerId: unknown
  readonly startedAt: unknown
  readonly finishedAt: unknown
  readonly waitingSince: unknown
  readonly undoOf: unknown
  readonly undoFinishedAt: unknown
}

/**
 * What the status of a step requires of its other columns. A ready or waiting step has an open dependency while its run is paused.
 *
 * No CHECK compares times, neither here nor of runs: they come from the server's clock, which may be set back, also by a failover to another server.
 * A CHECK would then reject the end of every attempt that began before, and its work would be lost. The invariants of `@belay/testing` do compare
 * them, on clocks that only go forward.
 */
export function stepFitsStatus(step: StepColumns): SQL {
  const {
    status,
    openDependencies: open,
    workerId,
    startedAt,
    finishedAt,
    waitingSince,
    undoOf,
    undoFinishedAt,
  } = step
  return sql`case
    when ${undoOf} is not null then ${oneOf(undoOf, ['completed', 'failed', 'skipped', 'cancelled'])}
      and ${oneOf(status, ['compensating', 'compensated', 'compensation_failed'])}
      and (${status} <> 'compensated' or coalesce(${undoFinishedAt}, ${finishedAt}) is not null)
    when ${status} = 'running' then ${open} = 0 and ${workerId} is not null and ${startedAt} is not null
    when ${status} = 'completed' then ${open} = 0 and ${finishedAt} is not null
    when ${status} = 'pending' then ${open} > 0
    when ${workerId} is null and ${status} = 'waiting' then ${waitingSince} is not null
    when ${workerId} is null and ${status} = 'ready' then true
    when ${finishedAt} is not null and ${status} = 'failed' then true
    else ${oneOf(status, ['skipped', 'cancelled'])} end`
}

/** `column in (…)`. The values are Belay's own words. */
export function oneOf<Value extends string>(column: unknown, values: readonly Value[]): SQL {
  return sql`(${column} in (${sql.raw(values.map((value) => `'${value}'`).join(', '))}))`
}
