import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { changedRunColumns } from '../rows/changed-run.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { cancelSteps, lockedOpenSteps, openStatuses } from '../rows/open-steps.ts'
import { definitionOf, forgottenHints } from '../rows/queue-place.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'
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
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
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
${forgottenHints('locked_steps f', definitionOf('f'))},
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

/**
 * Records attempts that failed for good after a completed pivot. Nothing else of their runs changes: other steps go on, and the dependents stay pending.
 * Guarantee: whether the pivot has completed was settled before the attempt began, and does not change while the attempt holds its step. Index: primary
 * keys only. Locks: own steps by (run, step).
 */
export const failAfterPivots: Statement<SettledRow> = {
  name: 'fail_after_pivots',
  text: failAfterPivotsText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptFailAfterPivots: Statement<SettledRow> = {
  name: 'fail_after_pivots_kept',
  text: failAfterPivotsText({
    columns: `${keptColumns()}, a.error as kept_error`,
    rows: keptRows('failed_steps', { ended: `'failed'`, error: 'e.kept_error' }),
  }),
}

function failAfterPivotsText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$6')},
failed_attempts as materialized (
  select a.run_id, a.step, a.fence, a.error, a.succeeded, a.position, a.pivots::int[] as pivots, $1::uuid as worker_id,
    'running' as leased_status, 'completed' as passed_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $7::bool[], $8::text[])
    with ordinality as a (run_id, step, fence, error, succeeded, pivots, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
passed_attempts as materialized (
  select a.run_id, a.step, a.fence, a.error, a.succeeded, a.position, a.worker_id, a.leased_status
  from failed_attempts a
  where exists (
    select from unnest(a.pivots) as pivot (step)
    join belay.workflow_steps p on p.run_id = any (array[a.run_id]) and ${stepIs('p', 'pivot.step')}
    where p.status = any (array[a.passed_status])
  )
),
failed_steps as (
  update belay.workflow_steps s
  set status = 'failed', error = a.error::json, finished_at = belay.store_now(), begun = true,
    succeeded = case when a.succeeded then true else s.succeeded end
  from passed_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.position${keeping.columns}
),
parked_runs as (
  select r.id as run_id, 'parked' as status, ${changedRunColumns}
  from (select distinct f.run_id, 'running' as going_status from failed_steps f) f
  join belay.workflow_runs r on r.id = any (array[f.run_id])
  where r.status = any (array[f.going_status])
)${keeping.rows}
${settledRows({ steps: 'failed_steps', runs: 'parked_runs r' })}`
}

export type FailedOutcome = Extract<Outcome, { type: 'failed'; cause: string }>

export async function fail(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly FailedOutcome[] },
): Promise<Settled> {
  const late = request.outcomes.filter(({ pivots }) => pivots !== undefined)
  if (late.length === 0) return failAndStop(connection, request)
  const parked = await failAfter(connection, { ...request, outcomes: late })
  const done = new Set(parked.settled.map((index) => late[index]))
  const rest = request.outcomes.filter((outcome) => !done.has(outcome))
  const stopped = rest.length === 0 ? NOTHING : await failAndStop(connection, { ...request, outcomes: rest })
  for (const index of stopped.settled) done.add(rest[index])
  return {
    settled: request.outcomes.flatMap((outcome, index) => (done.has(outcome) ? [index] : [])),
    runs: [...parked.runs, ...stopped.runs],
  }
}

const NOTHING: Settled = { settled: [], runs: [] }

async function failAfter(
  connection: Connection,
  { workerId, outcomes, keepAttempts }: Parameters<typeof fail>[1],
): Promise<Settled> {
  const rows = await connection.query(keepAttempts ? keptFailAfterPivots : failAfterPivots, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.error),
    sharedLockWait,
    outcomes.map((outcome) => outcome.succeeded === true),
    outcomes.map(({ pivots = [] }) => `{${pivots.join()}}`),
  ])
  return decodeSettled(rows)
}

async function failAndStop(
  connection: Connection,
  { workerId, outcomes, keepAttempts }: Parameters<typeof fail>[1],
): Promise<Settled> {
  const rows = await connection.query(keepAttempts ? keptFailAttempts : failAttempts, [
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
