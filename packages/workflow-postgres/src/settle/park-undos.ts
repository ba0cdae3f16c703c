import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { changedRunColumns } from '../rows/changed-run.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { decodeSettled, type Settled, type SettledRow, settledRows } from './settled-rows.ts'

/**
 * Records undos that failed for good, and parks their runs for an operator; a paused run is parked when it is resumed. Undos of independent branches
 * continue. Guarantee: step and run change together, whatever an operator did to the run while this waited for the step. Index: primary keys. Locks:
 * own steps, then runs, each by (run, step).
 */
export const parkUndos: Statement<SettledRow> = {
  name: 'park_undos',
  text: parkText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptParkUndos: Statement<SettledRow> = {
  name: 'park_undos_kept',
  text: parkText({
    columns: `${keptColumns()}, a.error as kept_error`,
    rows: keptRows('parked_steps', { ended: `'compensation_failed'`, error: 'e.kept_error' }),
  }),
}

function parkText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$6')},
failed_attempts as materialized (
  select a.run_id, a.step, a.fence, a.error, a.position, $1::uuid as worker_id, 'compensating' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::text[]) with ordinality as a (run_id, step, fence, error, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
parked_steps as (
  update belay.workflow_steps s
  set status = 'compensation_failed', undo_error = a.error::json, undo_finished_at = belay.store_now()
  from failed_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.position${keeping.columns}
),
-- Reads the locked version: an operator may have resumed or repaired the run after this statement's snapshot.
undoing_runs as materialized (
  select r.id, r.status
  from (
    select p.run_id, array['compensating', 'compensation_failed', 'paused'] as undoing_statuses
    from parked_steps p group by p.run_id order by p.run_id
  ) parked
  join belay.workflow_runs r on r.id = any (array[parked.run_id])
  where r.status = any (parked.undoing_statuses)
  order by parked.run_id
  for no key update of r
),
parked_runs as (
  update belay.workflow_runs r
  set status = 'compensation_failed'
  from (select u.id, 'compensating' as status from undoing_runs u where u.status = 'compensating') undoing
  where r.id = any (array[undoing.id])
  returning r.id as run_id, r.status, ${changedRunColumns}
)${keeping.rows}
${settledRows({ steps: 'parked_steps', runs: 'parked_runs r' })}`
}

export type ParkedOutcome = Extract<Outcome, { type: 'compensation_failed' }>

export async function park(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly ParkedOutcome[] },
): Promise<Settled> {
  const { workerId, outcomes } = request
  const rows = await connection.query(request.keepAttempts ? keptParkUndos : parkUndos, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.error),
    sharedLockWait,
  ])
  return decodeSettled(rows)
}
