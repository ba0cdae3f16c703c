import type { StoredStep, UndoneStatus } from '@belay/workflow/adapter'

/** The columns of a step that describe its undo. Counts are null until the undo begins. */
export interface UndoColumns {
  readonly undo_of: UndoneStatus | null
  readonly undo_attempts: number | null
  readonly undo_failures: number
  readonly undo_losses: number
  readonly undo_started_at: number | null
  readonly undo_finished_at: number | null
  readonly undo_skipped: boolean | null
}

/** Null if a step has no undo. If an undo passed over the step, these columns no longer mean anything. */
export function decodeUndo(row: UndoColumns): StoredStep['undo'] {
  if (row.undo_of === null || row.undo_attempts === null) return null
  return {
    attempts: row.undo_attempts,
    failures: row.undo_failures,
    losses: row.undo_losses,
    startedAt: row.undo_started_at,
    finishedAt: row.undo_finished_at,
    skipped: row.undo_skipped === true,
  }
}
