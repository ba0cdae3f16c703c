import type { Outcome, StepStatus, UndoneStatus } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

interface AttemptRow {
  readonly position: number
  readonly attempt: number
  readonly status: StepStatus
  readonly undo_of: UndoneStatus | null
  readonly is_finished: boolean
}

/** The state of steps whose attempts matched nothing when they were settled. Index: primary key. No locks. */
export const readAttempts: Statement<AttemptRow> = {
  name: 'read_attempts',
  text: `
select a.position::int as position, s.attempt, s.status, s.undo_of, s.finished_at is not null as is_finished
from unnest($1::uuid[], $2::int[]) with ordinality as a (run_id, step, position)
join belay.workflow_steps s on s.run_id = any (array[a.run_id]) and s.step = any (array[a.step])`,
}

/** Of outcomes that matched nothing, the indexes of those that an earlier call, whose answer was lost, had recorded. */
export async function settledBefore(
  connection: Connection,
  outcomes: readonly Outcome[],
): Promise<readonly number[]> {
  if (outcomes.length === 0) return []
  const rows = await connection.query(readAttempts, [
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
  ])
  return rows.filter((row) => wasSettled(outcomes[row.position - 1]!, row)).map((row) => row.position - 1)
}

/**
 * Tells whether a step looks as it does after this outcome was recorded. An attempt has one holder, so a step that still carries the
 * attempt's number and has ended was ended by it, even if the run's undo has turned to the step since.
 */
function wasSettled(outcome: Outcome, row: AttemptRow): boolean {
  if (row.attempt !== outcome.attempt) return false
  switch (outcome.type) {
    case 'completed':
    case 'failed':
      return row.status === outcome.type || row.undo_of === outcome.type
    case 'compensated':
    case 'compensation_failed':
      return row.status === outcome.type
    case 'relayed':
      return row.status === outcome.undoOf && row.undo_of === null
    case 'retry':
    case 'released':
      // Only the holder sets the time an attempt ended; the sweep, which leaves the same status behind, does not.
      if (!row.is_finished) return false
      return outcome.direction === 'undo'
        ? row.status === 'compensating'
        : row.status === 'ready' || row.status === 'cancelled' || row.undo_of === 'cancelled'
  }
}
