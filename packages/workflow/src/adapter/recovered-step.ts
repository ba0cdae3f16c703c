import type { Claim } from './records.ts'

/** A step that a sweep took back from a dead worker, with the attempt that was lost. */
export interface RecoveredStep extends Omit<Claim, 'failures' | 'undoOf'> {
  /** Of an item of a map or a round of a loop; null for other steps. */
  readonly itemKey: string | null
  /** When the lost attempt was claimed. Epoch milliseconds, store clock. Null in rows of older code. */
  readonly startedAt: number | null
}
