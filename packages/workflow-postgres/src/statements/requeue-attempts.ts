import type { Outcome } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { boundedLockWait, sharedLockWait } from '../lock-wait.ts'

/**
 * Gives steps back to the queue: retries, from their delay on, and released leases. Either direction. Guarantee: the step and its queue
 * row change together; an attempt that holds its step no more changes nothing. Index: primary key. Locks: own steps by (run, step).
 */
export const requeueAttempts: Statement<{ readonly position: number }> = {
  name: 'requeue_attempts',
  text: `
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
    failures = s.failures + a.is_failure::int,
    failing_since = case when a.is_failure and s.failures = 0 then s.started_at else s.failing_since end,
    error = case when a.is_failure then a.error::json else s.error end,
    worker_id = null, finished_at = belay.store_now(),
    -- That nothing has begun is known of a first attempt, or when it was known of the attempts before.
    begun = case when a.undo then s.begun when a.begun or s.begun then true when a.fence = 1 then false else s.begun end,
    available_at = belay.store_now() + a.delay_ms * interval '1 millisecond'
  from returned_attempts a
  where s.run_id = any (array[a.run_id]) and s.step = any (array[a.step]) and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.fence, a.definition_id, s.available_at, a.position
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select r.available_at, r.definition_id, r.step, r.fence, r.run_id
  from returned_steps r
)
select position::int as position from returned_steps`,
}

export type RequeuedOutcome = Extract<Outcome, { type: 'retry' | 'released' }>

/** Returns the indexes of the outcomes that were recorded. */
export async function requeue(
  connection: Connection,
  request: { workerId: string; outcomes: readonly RequeuedOutcome[] },
): Promise<readonly number[]> {
  const { workerId, outcomes } = request
  const rows = await connection.query(requeueAttempts, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map((outcome) => outcome.direction === 'undo'),
    outcomes.map((outcome) => outcome.type === 'retry'),
    outcomes.map((outcome) => (outcome.type === 'retry' ? outcome.error : null)),
    outcomes.map((outcome) => (outcome.type === 'retry' ? outcome.delayMs : 0)),
    outcomes.map((outcome) => outcome.type === 'retry' || outcome.begun !== false),
    sharedLockWait,
  ])
  return rows.map((row) => row.position - 1)
}
