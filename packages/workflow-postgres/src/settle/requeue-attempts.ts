import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, notedLate, placeAt } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Returns steps to the queue, in either direction: retries after their delay, and released leases. Guarantee: the step and its queue row change
 * together; an attempt that no longer holds its step changes nothing. Index: primary key. Locks: own steps by (run, step).
 */
export const requeueAttempts: Statement<{ readonly position: number }> = {
  name: 'requeue_attempts',
  text: requeueText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptRequeueAttempts: Statement<{ readonly position: number }> = {
  name: 'requeue_attempts_kept',
  text: requeueText({
    columns: `${keptColumns()}, a.is_failure, a.begun, a.error as kept_error`,
    rows: keptRows('returned_steps', {
      ended: `case when e.is_failure then 'retrying' else 'released' end`,
      error: 'e.kept_error',
      where: 'e.begun',
    }),
  }),
}

function requeueText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$11')},
returned_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.undo, a.is_failure, a.error, a.delay_ms, a.begun, a.position,
    $1::uuid as worker_id, case when a.undo then 'compensating' else 'running' end as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::bool[], $7::bool[], $8::text[], $9::float8[],
    $10::bool[]) with ordinality as a (run_id, step, fence, definition_id, undo, is_failure, error, delay_ms, begun, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
returned_steps as (
  update belay.workflow_steps s
  set status = case when a.undo then s.status else 'ready' end,
    failures = s.failures + (a.is_failure and not a.undo)::int,
    failing_since = case when a.is_failure and not a.undo and s.failures = 0 then s.started_at
      when a.is_failure and a.undo and s.undo_failures = 0 then s.undo_started_at else s.failing_since end,
    error = case when a.is_failure and not a.undo then a.error::json else s.error end,
    worker_id = null,
    finished_at = case when a.undo then s.finished_at else belay.store_now() end,
    -- If the handler was not called, it does not count as an attempt.
    attempts = s.attempts - (not a.begun and not a.undo)::int,
    undo_attempts = s.undo_attempts - (not a.begun and a.undo)::int,
    undo_failures = s.undo_failures + (a.is_failure and a.undo)::int,
    undo_error = case when a.is_failure and a.undo then a.error::json else s.undo_error end,
    undo_finished_at = case when a.undo then belay.store_now() end,
    -- False only if nothing has begun: this is the first attempt, or the earlier ones are known not to have begun.
    begun = case when a.undo then s.begun when a.begun or s.begun then true when a.fence = 1 then false else s.begun end,
    available_at = belay.store_now() + a.delay_ms * interval '1 millisecond'
  from returned_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.fence, a.definition_id, s.available_at, s.undo_of, s.priority, a.position${keeping.columns}
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeAt('r.available_at', leadOf('r'))}, r.definition_id, r.step, r.fence, r.run_id
  from returned_steps r
),
${notedLate('returned_steps', 'q.available_at', leadOf('q'))}${keeping.rows}
select position::int as position from returned_steps`
}

export type RequeuedOutcome = Extract<Outcome, { type: 'retry' | 'released' }>

/** Returns the indexes of the outcomes that were recorded. */
export async function requeue(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly RequeuedOutcome[] },
): Promise<readonly number[]> {
  const { workerId, outcomes } = request
  const rows = await connection.query(request.keepAttempts ? keptRequeueAttempts : requeueAttempts, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map((outcome) => outcome.direction === 'undo'),
    outcomes.map((outcome) => outcome.type === 'retry'),
    outcomes.map((outcome) => (outcome.type === 'retry' ? outcome.error : null)),
    outcomes.map((outcome) => outcome.delayMs ?? 0),
    outcomes.map((outcome) => outcome.type === 'retry' || outcome.begun !== false),
    sharedLockWait,
  ])
  return rows.map((row) => row.position - 1)
}
