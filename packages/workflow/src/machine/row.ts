import type { Payload } from './changes.ts'
import type { Note, Phase, Status, Tries } from './records.ts'

/** A unit as the store keeps it: the columns of its row, and its payloads where they changed. */
export interface Row extends Payload {
  readonly no: number
  /** The number of its scope; null for the root, which stands in the run’s row. */
  readonly scope: number | null
  readonly key: string | number
  /** How people name an item or a round. */
  readonly label: string | undefined
  readonly status: Status
  readonly of: Status | null
  readonly phase: Phase | null
  readonly serial: number
  readonly round: number
  readonly touched: boolean
  readonly succeeded: boolean
  readonly within: number | null
  readonly dropped: number
  /** Its ask is with somebody. */
  readonly flying: boolean
  /** The row was committed before the handler was called. */
  readonly recorded: boolean
  readonly forward: Tries
  readonly undo: Tries | null
  readonly note: Note | null
}

/** The run’s own row, as far as the machine knows it. It is written when the run turns: not when it begins, and not when a step ends. */
export interface RunRow {
  readonly id: string
  readonly parent: string | null
  readonly paused: boolean
  readonly priority: number
  /** Something in it waits for an operator. */
  readonly parked: boolean
  /** The number of the next unit. */
  readonly born: number
  readonly deadlineAt: number | null
  /** How often it has ended. */
  readonly ends: number
  readonly root: Row
}
