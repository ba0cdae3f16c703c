import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { changedRunColumns } from '../rows/changed-run.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { cancelSteps, lockedOpenSteps, openStatuses } from '../rows/open-steps.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'
import { decodeSettled, type Settled, type SettledRow, settledRows } from './settled-rows.ts'

/**
 * Records attempts that failed for good, cancels the steps of their runs that have not begun, and stops the runs. A paused run stays paused until it
 * is resumed. Guarantee: all of it commits together; the first failure of a run is its cause. If a concurrent settlement makes a step ready, the step
 * is either cancelled here, or was leased before and is in flight, and the drain waits for it. Index: primary keys only. Locks: own steps, other
 * steps, runs, each by (run, step).
 */
export const failAttempts: Statement<SettledRow> = {
  name: 'fail_attempts',
  text: failText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptFailAttempts: Statement<SettledRow> = {
  name: 'fail_attempts_kept',
  text: failText({
    columns: `${keptColumns()}, a.error as kept_error`,
    rows: keptRows('failed_steps', { ended: `'failed'`, error: 'e.kept_error' }),
  }),
}

function failText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$7')},
failed_attempts as materialized (
  select a.run_id, a.step, a.fence, a.error, a.cause, a.succeeded, a.position, $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::text[], $8::bool[])
    with ordinality as a (run_id, step, fence, error, cause, succeeded, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
failed_steps as (
  update belay.workflow_steps s
  set status = 'failed', error = a.error::json, finished_at = belay.store_now(), begun = true,
    succeeded = case when a.succeeded then true else s.succeeded end
  from failed_attempts a
  where s.run_id = any (array[a.run_id]) and s.step = any (array[a.step]) and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.cause, a.position${keeping.columns}
),
failed_runs as materialized (
  select distinct on (f.run_id) f.run_id, f.cause, ${openStatuses} as open_statuses,
    array[${forwardStatuses}] as forward_statuses
  from failed_steps f
  order by f.run_id, f.position
),
${lockedOpenSteps({ runs: 'failed_runs', id: 'run_id' })},
cancelled_steps as (
  ${cancelSteps()}
  returning 1
),
stopped_runs as (
  update belay.workflow_runs r
  set status = case r.status when 'paused' then r.status else 'compensating' end, stop = 'failure', cause = f.cause::json
  from (
    select failed_runs.run_id, failed_runs.cause, failed_runs.forward_statuses
    from failed_runs
    -- Locks the runs last.
    cross join (select count(*) from cancelled_steps) as steps_were_locked
    order by failed_runs.run_id
  ) f
  where r.id = any (array[f.run_id]) and r.status = any (f.forward_statuses) and r.stop is null
  returning r.id as run_id, r.status, ${changedRunColumns}
)${keeping.rows}
${settledRows({ steps: 'failed_steps', runs: "stopped_runs r where r.status = 'compensating'" })}`
}

export type FailedOutcome = Extract<Outcome, { type: 'failed'; cause: string }>

export async function fail(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly FailedOutcome[] },
): Promise<Settled> {
  const { workerId, outcomes } = request
  const rows = await connection.query(request.keepAttempts ? keptFailAttempts : failAttempts, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.error),
    outcomes.map((outcome) => outcome.cause),
    sharedLockWait,
    outcomes.map((outcome) => outcome.succeeded === true),
  ])
  return decodeSettled(rows)
}
