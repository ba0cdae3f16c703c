import type { StoredRunStatus } from './lifecycle.ts'
import type { DefinitionShape, JsonText, RunRecord, StepRecord, UndoRecord } from './records.ts'
import type { UndoPlan } from './undo.ts'

/** A run as `decide` sees it: with what only the store knows, and without its input, which may be large. */
export interface StoredRun extends Omit<RunRecord, 'input' | 'status'> {
  readonly status: StoredRunStatus
  /** While the run goes forward, the number of open sinks; during an undo, the number of open undos. */
  readonly openSteps: number
  /** Why the run stopped going forward. */
  readonly stop: 'failure' | 'cancellation' | 'abandonment' | null
  /** The run's final status after its undo; null until the undo begins. */
  readonly endsAs: UndoPlan['endsAs'] | null
}

/** A step without its payloads: no decision reads them, and they may be large. */
export interface StoredStep extends Omit<StepRecord, 'output' | 'error' | 'undo' | 'irreversible'> {
  readonly undo: Omit<UndoRecord, 'error'> | null
}

/** A locked run, for `decide`. */
export interface RunToChange {
  readonly run: StoredRun
  /** Every step, ascending by number; without items, if the request leaves them alone. */
  readonly steps: readonly StoredStep[]
  /** The shape of the run's definition. */
  readonly shape: DefinitionShape
  /** Epoch milliseconds, store clock. */
  readonly now: number
}

/** What to write. Anything it doesn't name stays as it is. */
export interface RunChange {
  readonly run: StoredRun
  /** The new rows of the steps that change. */
  readonly steps: readonly StepChange[]
  /** Which steps become claimable, and when; null is at once. Steps as they are after the change. */
  readonly queue: readonly QueuedByChange[]
  /**
   * True if a paused run goes forward again. Once the rows are written, the store makes those items ready whose turn came during the pause (pending,
   * and before `nextItem`; their map has completed), and queues every item that is ready, or waits until an instant or for nothing any more.
   */
  readonly queuesItems?: true | undefined
  readonly history: readonly HistoryEntry[]
  /** Present if the run moves to another definition. Then `steps` holds a row for each step of that definition. */
  readonly migration?: Migration
}

interface QueuedByChange {
  readonly step: number
  readonly availableAt: number | null
  /** True if the step became ready at `availableAt` already: its place counts from then. Otherwise an instant that has passed counts as now. */
  readonly waits?: boolean | undefined
}

/** The new row of a step. */
export interface StepChange extends StoredStep {
  /** Replaces the stored output; omitted, the output stays. */
  readonly output?: JsonText
  /** Replaces the stored forward error; omitted, it stays. */
  readonly error?: JsonText
  /** Replaces the stored error of the undo; omitted, it stays. */
  readonly undoError?: JsonText
}

export interface Migration {
  readonly definitionId: number
  /** From now on. */
  readonly reportsEnd: boolean
  /** For each step of the new definition, its number in the old one; null if the step is new. */
  readonly oldNumbers: readonly (number | null)[]
}

/** An operator's action on a run. */
export interface HistoryEntry {
  /** A single word, such as `pause`. */
  readonly action: string
  /** The step's number at that time, if the action was about one step. */
  readonly step: number | null
  readonly actor: string | null
  readonly reason: string | null
  /** JSON text of what the action changed. */
  readonly change: string
}

/** An entry of a run's history: an operator's action, or a received signal. */
export interface HistoryRecord {
  /** Epoch milliseconds, store clock. */
  readonly at: number
  /** A single word, such as `pause`; `signal` for a signal or a decision. */
  readonly action: string
  /** The step's number. For a signal it is the present number; for an action, the number at that time. */
  readonly step: number | null
  /** The step's name, only for signals. Actions name their step in `change`. */
  readonly name: string | null
  readonly actor: string | null
  readonly reason: string | null
  /** What the action changed, or the signal's payload. */
  readonly change: JsonText
  /** The sender's key, only for signals. */
  readonly key: string | null
}
