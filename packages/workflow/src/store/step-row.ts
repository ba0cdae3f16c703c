import type { JsonText } from '../adapter/new-item.ts'
import type { Row } from '../machine/row.ts'

/** How often one direction of a unit was tried, as far as people read it. */
export interface Counts {
  readonly attempt: number
  readonly failures: number
  readonly losses: number
  /** Epoch milliseconds. */
  readonly due: number | null
}

/**
 * A unit as a store keeps it: what people ask in SQL in columns, the rest of the machine’s row as one text that no store reads. A unit that has begun
 * and ended as nearly all do needs no such text.
 */
export interface StepRow extends Counts {
  readonly no: number
  /** The number of its scope. */
  readonly scope: number
  /** Of a step: its name. Of an item or a round: null. */
  readonly name: string | null
  /** Of an item or a round: its place. Of a step: null. */
  readonly index: number | null
  readonly label: string | null
  readonly status: Row['status']
  readonly round: number
  readonly undo: Counts | null
  readonly state: JsonText
}

/** What a commit writes of a unit. A payload or an instant that is left out stays as it is; null clears it. */
export interface WrittenStep extends StepRow {
  readonly item?: JsonText
  readonly output?: JsonText
  /** Its output is that of this unit, which is stored. */
  readonly outputOf?: number
  /** The error and the instants, in epoch milliseconds, are those of its undo. Default: of its way forward. */
  readonly isUndo?: true
  readonly error?: JsonText
  readonly startedAt?: number | null
  readonly finishedAt?: number | null
}

/** A step that ended well at its first attempt, and of which the row had said nothing yet: what most rows are. */
export interface PlainEnd {
  readonly no: number
  readonly output: JsonText
  readonly startedAt: number
  readonly finishedAt: number
}
