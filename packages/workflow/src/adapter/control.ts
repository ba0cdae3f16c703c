import type { StoredRunStatus } from './lifecycle.ts'
import type { DefinitionShape, JsonText, RunRecord, StepRecord, UndoRecord } from './records.ts'
import type { UndoPlan } from './undo.ts'

/** A run as a change of it is decided on: with what the store keeps for itself, and without its input, which may be large. */
export interface StoredRun extends Omit<RunRecord, 'input' | 'status'> {
  readonly status: StoredRunStatus
  /** Going forward the sinks that are open; in an undo the undos that are open. */
  readonly openSteps: number
  /** Why the run stopped going forward. */
  readonly stop: 'failure' | 'cancellation' | 'abandonment' | null
  /** How the run ends once its undo is done; null until the undo begins. */
  readonly endsAs: UndoPlan['endsAs'] | null
}

/** A step without its payloads, which no decision looks at and which may be large. */
export interface StoredStep extends Omit<StepRecord, 'output' | 'error' | 'undo'> {
  readonly undo: Omit<UndoRecord, 'error'> | null
}

/** A run that is held still while a change of it is decided on. */
export interface RunToChange {
  readonly run: StoredRun
  /** Every step, ascending by number. */
  readonly steps: readonly StoredStep[]
  /** The shape of the definition that the run is pinned to. */
  readonly shape: DefinitionShape
  /** Epoch milliseconds, store clock. */
  readonly now: number
}

/** What is to be written. What it doesn't name stays as it is. */
export interface RunChange {
  readonly run: StoredRun
  /** The new rows of the steps that change. */
  readonly steps: readonly StepChange[]
  /** What may be claimed from now on, or from an instant on; of the rows as they are after the change. */
  readonly queue: readonly { readonly step: number; readonly availableAt: number | null }[]
  readonly history: readonly HistoryEntry[]
  /** Set when the run moves to another definition: then `steps` holds a row for each of its steps. */
  readonly migration?: Migration
}

/** A step's row as it is to be. */
export interface StepChange extends StoredStep {
  /** Replaces the stored output; left out, it stays. */
  readonly output?: JsonText
  /** Replaces the stored error of the way forward; left out, it stays. */
  readonly error?: JsonText
  /** Replaces the stored error of the undo; left out, it stays. */
  readonly undoError?: JsonText
}

export interface Migration {
  readonly definitionId: number
  /** For each step of the new definition its number in the old one, or null for a step that is new. */
  readonly oldNumbers: readonly (number | null)[]
}

/** Something an operator did to a run. */
export interface HistoryEntry {
  /** A word like `pause`. */
  readonly action: string
  /** The step's number at that time, when it was about one. */
  readonly step: number | null
  readonly actor: string | null
  readonly reason: string | null
  /** JSON text of what changed by it. */
  readonly change: string
}

/** Something that happened to a run from outside: what an operator did, or a signal it received. */
export interface HistoryRecord {
  /** Epoch milliseconds, store clock. */
  readonly at: number
  /** A word like `pause`; `signal` for a signal or a decision. */
  readonly action: string
  /** The step's number: of a signal the present one, of an action the one that the step had then. */
  readonly step: number | null
  /** The step's name, read together with its number: of signals only, since actions name their step in `change`. */
  readonly name: string | null
  readonly actor: string | null
  readonly reason: string | null
  /** What changed by it; a signal's payload. */
  readonly change: JsonText
  /** The sender's key, of a signal. */
  readonly key: string | null
}
