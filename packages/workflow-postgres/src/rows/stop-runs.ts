import type { Adapter, ChangedRun } from '@belay/workflow/adapter'
import { boundedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ChangedRunRow, changedRunColumns, decodeChangedRun } from './changed-run.ts'
import { cancelSteps, lockedOpenSteps, openStatuses } from './open-steps.ts'
import { hasPassedPivot } from './passed-pivots.ts'
import { definitionOf, forgottenHints } from './queue-place.ts'
import { goesForward } from './run-statuses.ts'

/**
 * Stops runs with a cancellation, cancels their steps that have not begun, and adds an entry to their history. Guarantee: all of it commits together;
 * a paused run is no longer paused; a run that is stopping or has ended stays unchanged, and so does one that would be undone after its pivot. Index: primary keys. Locks: steps, then runs, each by (run,
 * step).
 */
export const cancelRunsStatement: Statement<ChangedRunRow> = {
  name: 'cancel_runs',
  text: `
with ${boundedLockWait('$7')},
live_runs as materialized (
  select r.id, r.definition_id, ${openStatuses} as open_statuses, 'completed' as passed_status
  from (select count(*) from bounded_wait) as wait_was_bounded
  cross join (select distinct a.id from unnest($1::uuid[]) as a (id)) asked
  cross join lateral (
    select o.id, o.definition_id, o.status, o.stop from belay.workflow_runs o where o.id = any (array[asked.id]) limit 1
  ) r
  where ${goesForward('r')}
  order by r.id
),
-- A run whose pivot has completed cannot be undone. If its pivot completes meanwhile, the plan of the undo leaves everything as it is.
asked_runs as materialized (
  select l.id, l.open_statuses
  from live_runs l
  where $3::text <> 'cancellation' or not ${hasPassedPivot({ run: 'l', completed: 'l.passed_status' })}
  order by l.id
),
${lockedOpenSteps({ runs: 'asked_runs', id: 'id' })},
cancelled_steps as (
  ${cancelSteps()}
  returning 1
),
${forgottenHints('locked_steps f', definitionOf('f'))},
stopped_runs as (
  update belay.workflow_runs r
  set status = 'compensating', stop = $3::text, cause = $2::text::json
  from (
    select asked_runs.id
    from asked_runs
    -- Locks the runs last.
    cross join (select count(*) from cancelled_steps) as steps_were_locked
    order by asked_runs.id
  ) asked
  where r.id = any (array[asked.id]) and ${goesForward('r')}
  returning r.id, ${changedRunColumns}
),
noted_runs as (
  insert into belay.workflow_history (run_id, at, action, actor, reason, change)
  select s.id, belay.store_now(), $4::text, $5::text, $6::text, $8::text::json
  from stopped_runs s
  where $4::text is not null
)
select s.id as run_id, s.definition_id, s.key, s.tags, s.duration_ms, s.reports_end from stopped_runs s`,
}

export type CancelRequest = Parameters<Adapter['cancelRuns']>[0]

/** One statement, which may be part of a transaction. `waits` is how long it waits for a locked row, as Postgres takes it. */
export async function cancel(
  connection: Connection,
  { cause, stop = 'cancellation', entry }: CancelRequest,
  runIds: readonly string[],
  waits: string,
): Promise<readonly ChangedRun[]> {
  const { action = null, actor = null, reason = null, change = null } = entry ?? {}
  const values = [runIds, cause, stop, action, actor, reason, waits, change]
  const rows = await connection.query(cancelRunsStatement, values)
  return rows.map((row) => decodeChangedRun(row, 'compensating'))
}
