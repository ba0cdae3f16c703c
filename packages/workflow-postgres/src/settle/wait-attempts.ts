import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { countedAttempts } from '../rows/claim-row.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, notedLate, placeAt } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Lets steps wait without a worker: until a time, with a queue row, or for a signal only, without one. Guarantee: the step and its queue row change
 * together; a step whose signal came during its attempt is ready at once, because the condition is checked again on the row that the signal's
 * delivery had locked; an attempt that no longer holds its step changes nothing. Index: primary key. Locks: own steps by (run, step).
 */
export const waitAttempts: Statement<{ readonly position: number; readonly is_ready: boolean }> = {
  name: 'wait_attempts',
  text: waitText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptWaitAttempts: Statement<{ readonly position: number; readonly is_ready: boolean }> = {
  name: 'wait_attempts_kept',
  text: waitText({
    // The count before this statement resets it.
    columns: keptColumns(`(
      select ${countedAttempts.replaceAll('s.', 'before.')} from belay.workflow_steps before
      where before.run_id = s.run_id and before.step = s.step
    )`),
    rows: keptRows('waiting_steps', { ended: `'waiting'` }),
  }),
}

function waitText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$8')},
waiting_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.after_ms, a.wake_at_ms, a.position,
    $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[])
    with ordinality as a (run_id, step, fence, definition_id, after_ms, wake_at_ms, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
waiting_steps as (
  update belay.workflow_steps s
  set status = case when s.signalled_at is null then 'waiting' else 'ready' end,
    -- An attempt that had to wait has done its work: it ends the series of failures and losses. Each check of a condition counts its own attempts.
    attempts = 0, failures = 0, losses = 0, worker_id = null, finished_at = belay.store_now(),
    waiting_since = coalesce(s.waiting_since, belay.store_now()),
    -- Nobody knows whether it called a handler, so an earlier "not begun" is no longer valid.
    begun = case when s.begun then true end,
    available_at = case when s.signalled_at is null then
      coalesce(belay.store_now() + a.after_ms * interval '1 millisecond', to_timestamp(a.wake_at_ms / 1000)) end
  from waiting_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.fence, a.definition_id, s.available_at, s.status = 'ready' as is_ready, s.undo_of, s.priority, a.position${keeping.columns}
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  -- An instant that has passed counts as now: a claim that begins at its mark would skip what was due before.
  select ${placeAt('greatest(w.available_at, belay.store_now())', leadOf('w'))}, w.definition_id, w.step, w.fence, w.run_id
  from waiting_steps w
  where w.is_ready or w.available_at is not null
),
${notedLate('waiting_steps', 'q.available_at', leadOf('q'))}${keeping.rows}
select position::int as position, is_ready from waiting_steps`
}

export type WaitingOutcome = Extract<Outcome, { type: 'waiting' }>

/** Returns the indexes of the recorded outcomes, and whether any of the steps is ready at once. */
export async function wait(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly WaitingOutcome[] },
): Promise<{ readonly settled: readonly number[]; readonly queued: boolean }> {
  const { workerId, outcomes } = request
  const rows = await connection.query(request.keepAttempts ? keptWaitAttempts : waitAttempts, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map(({ wake }) => (wake !== null && 'afterMs' in wake ? wake.afterMs : null)),
    outcomes.map(({ wake }) => (wake !== null && 'at' in wake ? wake.at : null)),
    sharedLockWait,
  ])
  return { settled: rows.map((row) => row.position - 1), queued: rows.some((row) => row.is_ready) }
}
