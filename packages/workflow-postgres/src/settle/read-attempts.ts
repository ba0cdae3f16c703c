import type { Outcome, StepStatus, UndoneStatus } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { stepIs } from '../rows/step-lookup.ts'

interface AttemptRow {
  readonly position: number
  readonly fence: number
  readonly status: StepStatus
  readonly undo_of: UndoneStatus | null
  readonly worker_id: string | null
}

/** The state of steps whose attempts matched nothing when they were settled. Index: primary key. No locks. */
export const readAttempts: Statement<AttemptRow> = {
  name: 'read_attempts',
  text: `
select a.position::int as position, s.fence, s.status, s.undo_of, s.worker_id
from unnest($1::uuid[], $2::int[]) with ordinality as a (run_id, step, position)
join belay.workflow_steps s on s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')}`,
}

/**
 * The same, after waiting for any transaction that is about to record an outcome of these steps. Index: primary key. Locks: the steps (shared), by
 * (run, step).
 */
export const awaitAttempts: Statement<AttemptRow> = {
  name: 'await_attempts',
  text: `
select a.position::int as position, s.fence, s.status, s.undo_of, s.worker_id
from unnest($1::uuid[], $2::int[]) with ordinality as a (run_id, step, position)
join belay.workflow_steps s on s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')}
order by a.run_id, a.step
for share of s`,
}

/** Whether each of these outcomes is recorded, definitively: waits for a transaction that may still record one. */
export async function recorded(
  connection: Connection,
  { workerId, outcomes }: { workerId: string; outcomes: readonly Outcome[] },
): Promise<readonly boolean[]> {
  const rows = await connection.query(awaitAttempts, [
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
  ])
  const settled = new Set(
    rows
      .filter((row) => wasSettled(outcomes[row.position - 1]!, row, workerId))
      .map((row) => row.position - 1),
  )
  return outcomes.map((_, index) => settled.has(index))
}

/** Of outcomes that matched nothing, the indexes of those recorded by an earlier call whose answer was lost. */
export async function settledBefore(
  connection: Connection,
  request: { workerId: string; outcomes: readonly Outcome[] },
): Promise<readonly number[]> {
  const { workerId, outcomes } = request
  if (outcomes.length === 0) return []
  const rows = await connection.query(readAttempts, [
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
  ])
  return rows
    .filter((row) => wasSettled(outcomes[row.position - 1]!, row, workerId))
    .map((row) => row.position - 1)
}

/**
 * Whether the step looks as it does after this outcome was recorded. An attempt has one holder, so if a step has ended and still has the attempt's
 * fence, this attempt ended it. A released step looks the same whether its holder or the sweep released it. In both cases the attempt is over and
 * nothing is lost.
 */
function wasSettled(outcome: Outcome, row: AttemptRow, workerId: string): boolean {
  if (row.fence !== outcome.fence) return false
  switch (outcome.type) {
    case 'completed':
    case 'skipped':
    case 'failed':
    case 'compensated':
    case 'compensation_failed':
      return row.status === outcome.type && row.worker_id === workerId
    case 'expanded':
    case 'repeated':
    case 'received':
      return row.status === 'completed' && row.worker_id === workerId
    case 'waiting':
      return (row.status === 'waiting' || row.status === 'ready') && row.worker_id === null
    case 'relayed':
      return row.status === outcome.undoOf && row.undo_of === null && row.worker_id === workerId
    // It does not end the attempt. An attempt that still holds its step records it again.
    case 'decided':
    case 'enters':
      return false
    case 'retry':
    case 'released':
      return (
        row.status === (outcome.direction === 'undo' ? 'compensating' : 'ready') && row.worker_id === null
      )
  }
}
