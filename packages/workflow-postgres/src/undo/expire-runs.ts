import {
  type Adapter,
  type ChangedRun,
  deadlineCause,
  isUnreachable,
  type NamesRefused,
  DEADLINE_DROPPED as SPARED,
  sendApart,
} from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ChangedRunRow, changedRunColumns, decodeChangedRun } from '../rows/changed-run.ts'
import { cancelSteps, lockedOpenSteps, openStatuses } from '../rows/open-steps.ts'
import { hasPassedPivot } from '../rows/passed-pivots.ts'
import { definitionOf, forgottenHints } from '../rows/queue-place.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'

/**
 * Stops runs whose deadline has passed, and cancels their steps that have not begun. Drops the deadlines of runs whose pivot has completed. A paused run stays paused until it is resumed. Guarantee: both
 * commit together; a run that is stopping or has ended stays unchanged, however many workers do this at once; it waits for no lock: a run with a
 * locked row is left for later. Index: the partial index of deadlines, steps by primary key. Locks: steps, then runs, each by (run, step), skipping
 * locked ones.
 */
export const expireRunsStatement: Statement<
  ChangedRunRow & { readonly is_expired: boolean; readonly status: 'paused' | 'compensating' }
> = {
  name: 'expire_runs',
  text: `
with due_runs as materialized (
  select r.id, r.definition_id, ${openStatuses} as open_statuses, array[${forwardStatuses}] as forward_statuses, 'completed' as passed_status
  from belay.next_deadlines($1::int, $2::uuid[]) r
  where r.deadline_at <= belay.store_now()
),
judged_runs as materialized (
  select d.id, d.open_statuses, d.forward_statuses, ${hasPassedPivot({ run: 'd', completed: 'd.passed_status' })} as has_passed_pivot
  from due_runs d
),
-- After a pivot, a run goes forward only: its deadline does not count any more.
locked_spared_runs as materialized (
  select r.id
  from judged_runs j
  join belay.workflow_runs r on r.id = any (array[j.id])
  where j.has_passed_pivot and r.status = any (j.forward_statuses) and case when j.id is not null then r.stop is null end
  order by j.id
  for no key update of r skip locked
),
spared_runs as (
  update belay.workflow_runs r
  set deadline_at = null
  from locked_spared_runs l
  where r.id = any (array[l.id])
  returning r.id
),
noted_runs as (
  insert into belay.workflow_history (run_id, at, action, reason)
  select s.id, belay.store_now(), '${SPARED.action}', '${SPARED.reason}'
  from spared_runs s
),
overdue_runs as materialized (
  select j.id, j.open_statuses, j.forward_statuses from judged_runs j where not j.has_passed_pivot
),
${lockedOpenSteps({ runs: 'overdue_runs', id: 'id', skipLocked: true })},
locked_counts as materialized (
  select l.run_id, count(*) as steps from locked_steps l group by l.run_id
),
-- Runs whose open steps are all locked by this statement.
free_runs as materialized (
  select o.id, o.forward_statuses
  from overdue_runs o
  where (select count(*) from belay.workflow_steps s where s.run_id = o.id and s.status in ('pending', 'ready', 'waiting'))
    = coalesce((select l.steps from locked_counts l where l.run_id = o.id), 0)
),
locked_runs as materialized (
  select r.id, r.status
  from free_runs f
  -- Locks the runs last.
  cross join (select count(*) from locked_steps) as steps_were_locked
  join belay.workflow_runs r on r.id = any (array[f.id])
  where r.status = any (f.forward_statuses) and case when f.id is not null then r.stop is null end
  order by f.id
  for no key update of r skip locked
),
cancelled_steps as (
  ${cancelSteps(`(
    select l.run_id, l.step
    from locked_steps l
    where case when l.run_id is not null then l.run_id in (select r.id from locked_runs r) end
  ) l`)}
),
${forgottenHints('(select l.run_id, l.step, l.available_at from locked_steps l where l.run_id in (select r.id from locked_runs r)) f', definitionOf('f'))},
stopped_runs as (
  update belay.workflow_runs r
  set status = case l.status when 'paused' then l.status else 'compensating' end, stop = 'failure',
    cause = format('${deadlineCause('%s')}',
      to_char(r.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json
  from locked_runs l
  where r.id = any (array[l.id])
  returning r.id, r.status, ${changedRunColumns}
)
select o.id as run_id, s.id is not null as is_expired, s.status, s.definition_id, s.key, s.tags, s.duration_ms, s.reports_end
from overdue_runs o
left join stopped_runs s on s.id = o.id`,
}

/**
 * The time until the next queued step of these definitions becomes claimable, if it is less than ten minutes: nobody sets an alarm for later, and beside a
 * held snapshot there may be many dead entries of waits that were over before their time. Also the time until the next deadline and the next schedule, in
 * milliseconds from now. An infinite time is a damaged one, from which older servers cannot subtract. Index: the queue by (definition, available_at), and
 * the partial indexes of deadlines and of schedules. It reads one entry for each definition,
 * one deadline and one schedule. No locks.
 */
export const readUpcoming: Statement<{
  readonly claim_in_ms: number | null
  readonly deadline_in_ms: number | null
  readonly schedule_in_ms: number | null
}> = {
  name: 'read_upcoming',
  text: `
select
  (
    select (extract(epoch from min(due.available_at) - belay.store_now()) * 1000)::float8
    from unnest($1::int[]) as wanted (definition_id)
    cross join lateral (
      select q.available_at from belay.workflow_ready q
      where q.definition_id = wanted.definition_id and q.available_at > belay.store_now()
        and q.available_at <= belay.store_now() + interval '10 minutes'
      order by q.available_at
      limit 1
    ) due
  ) as claim_in_ms,
  (
    select (extract(epoch from greatest(r.deadline_at, to_timestamp(0)) - belay.store_now()) * 1000)::float8
    from belay.next_deadlines(1, '{}') r
  ) as deadline_in_ms,
  (
    select (extract(epoch from greatest(s.due_at, to_timestamp(0)) - belay.store_now()) * 1000)::float8
    from belay.workflow_schedules s
    where s.due_at < 'infinity'
    order by s.due_at
    limit 1
  ) as schedule_in_ms`,
}

/** Of the runs whose deadline comes first, those whose deadline has passed, in no order. Index: the partial index of deadlines. No locks. */
export const findOverdueRuns: Statement<{ readonly id: string }> = {
  name: 'find_overdue_runs',
  text: `
select r.id
from belay.next_deadlines(10 * $1::int, '{}') r
where r.deadline_at <= belay.store_now()
order by random()
limit $1::int`,
}

interface ExpireRequest extends NamesRefused {
  readonly limit: number
}

export async function expireRuns(
  connection: Connection,
  request: ExpireRequest,
): Promise<readonly ChangedRun[]> {
  try {
    return await expireTogether(connection, request)
  } catch (error) {
    if (!isOfStatement(error)) throw error
    return expireApart(connection, request)
  }
}

/** Stops them in halves, until a run that the database refuses is alone. */
async function expireApart(
  connection: Connection,
  { limit, onRefused }: ExpireRequest,
): Promise<readonly ChangedRun[]> {
  const overdue = (await connection.query(findOverdueRuns, [limit])).map(({ id }) => id)
  const expired: ChangedRun[] = []
  await sendApart(overdue, {
    send: async (part) => {
      const others = overdue.filter((id) => !part.includes(id))
      const rows = await connection.query(expireRunsStatement, [part.length, others])
      for (const row of rows) if (row.is_expired) expired.push(decodeChangedRun(row, row.status))
    },
    refused: (runId, error) => onRefused?.({ runId, error }),
    heldUp: () => {},
    unanswered: (_, error) => {
      // Those that are left come first another time: their order is random.
      if (isUnreachable(error) || expired.length === 0) throw error
    },
  })
  return expired
}

// How often it looks for others after it met locked runs.
const ROUNDS_MAX = 5

async function expireTogether(
  connection: Connection,
  request: ExpireRequest,
): Promise<readonly ChangedRun[]> {
  const expired: ChangedRun[] = []
  const passedOver: string[] = []
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const limit = request.limit - expired.length
    const rows = await connection.query(expireRunsStatement, [limit, passedOver])
    for (const row of rows) {
      if (row.is_expired) expired.push(decodeChangedRun(row, row.status))
      else passedOver.push(row.run_id)
    }
    // Only if it reached its limit may there be more, behind the runs that it skipped.
    if (rows.length < limit || expired.length >= request.limit) break
  }
  return expired
}

export async function upcoming(
  connection: Connection,
  request: { readonly definitionIds: readonly number[] },
): ReturnType<Adapter['upcoming']> {
  const [row] = await connection.query(readUpcoming, [request.definitionIds])
  return {
    claimInMs: row!.claim_in_ms,
    deadlineInMs: row!.deadline_in_ms,
    scheduleInMs: row!.schedule_in_ms,
  }
}
