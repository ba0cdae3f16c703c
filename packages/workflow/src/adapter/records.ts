import type { RunStatus, StepStatus } from './lifecycle.ts'

/** A payload as JSON text. `null` stands for "no value" (`undefined`); the JSON value null is the text `'null'`. */
export type JsonText = string | null

/** The shape of a definition: what may not change under one version. Steps are in topological order; a step's position is its number. */
export interface DefinitionShape {
  readonly steps: readonly StepShape[]
}

export interface StepShape {
  readonly name: string
  /** Numbers of the steps this one depends on, ascending, each smaller than its own. */
  readonly dependsOn: readonly number[]
  readonly compensate: 'never' | 'completed' | 'started'
}

export interface DefinitionRecord {
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: DefinitionShape
}

/** A definition as the store holds it: `id` is the store's short number for (name, version). */
export interface SavedDefinition extends DefinitionRecord {
  readonly id: number
}

export interface NewRun {
  /** Time-ordered uuid, made by the client. */
  readonly runId: string
  readonly definitionId: number
  readonly workflow: string
  readonly key: string | null
  readonly input: JsonText
}

/** What became of a {@link NewRun}. When its key was taken, `created` is false and the rest describes the run that has the key. */
export interface StartedRun {
  readonly runId: string
  readonly created: boolean
  readonly definitionId: number
  readonly input: JsonText
}

/** Forward attempts run a step's handler, undo attempts its compensation. */
export type Direction = 'forward' | 'undo'

/** Names one attempt of one step. Every write for an attempt carries it: it is the fencing token, together with the worker's id. */
export interface AttemptRef {
  readonly runId: string
  /** The step's number in its definition. */
  readonly step: number
  /** Grows with every claim of the step, forward and undo, and when an operator sends it on its way again; never repeats. */
  readonly attempt: number
  readonly direction: Direction
  readonly definitionId: number
}

/** The status a step had before its undo began. */
export type UndoneStatus = 'completed' | 'failed' | 'skipped' | 'cancelled'

/** A step leased to a worker. */
export interface Claim extends AttemptRef {
  /** Failed attempts so far, in this direction. */
  readonly failures: number
  /** Attempts so far that ended with the loss of their worker, in this direction. */
  readonly losses: number
  /** Set on undo claims: what is being undone. */
  readonly undoOf: UndoneStatus | null
  /** The run's input, where the store gives it along to save the worker a `load`. */
  readonly input?: JsonText
}

/** What a finished attempt asks the store to record. */
export type Outcome = AttemptRef &
  (
    | { readonly type: 'completed'; readonly output: JsonText }
    /** Failed for good: the run turns to `compensating` with this cause, unless it already has. */
    | { readonly type: 'failed'; readonly error: string; readonly cause: string }
    /** Try again, `delayMs` (store clock) from now. Either direction. Counts one failure. */
    | { readonly type: 'retry'; readonly error: string; readonly delayMs: number }
    /** Give the lease back without spending an attempt. Either direction. */
    | { readonly type: 'released' }
    | { readonly type: 'compensated' }
    /** The step had nothing to undo and only kept the order: it returns to the status it had (`undoOf`). */
    | { readonly type: 'relayed'; readonly undoOf: UndoneStatus }
    /** The compensation failed for good: the run is parked as `compensation_failed`. */
    | { readonly type: 'compensation_failed'; readonly error: string }
  )

export interface Settlement {
  /**
   * In the order of the outcomes. `settled`: recorded, now or by an earlier call whose answer was lost.
   * `lost`: the attempt's lease had moved on, and nothing was written for it.
   */
  readonly results: readonly ('settled' | 'lost')[]
  /** Steps that these outcomes made ready and that are now leased to the settling worker. */
  readonly claims: readonly Claim[]
  /** Runs whose status these outcomes changed. */
  readonly runs: readonly { readonly runId: string; readonly status: RunStatus }[]
  /** True when outcomes made steps ready that were left for any worker to claim. */
  readonly queued: boolean
}

/** A run that has failed or was cancelled and in which nothing is in flight any more. */
export interface DrainedRun {
  readonly runId: string
  readonly definitionId: number
  /** `abandonment` is a cancellation that leaves every effect as it is. */
  readonly stop: 'failure' | 'cancellation' | 'abandonment'
  /** All attempts of all its steps: more than at any earlier drain, which may have been before an operator sent the run forward again. */
  readonly attempts?: number
  /** Every step of the run, ascending by number. `started`: its effect may be there, or parts of it. */
  readonly steps: readonly { readonly step: number; readonly status: StepStatus; readonly started: boolean }[]
}

/**
 * The undo of a run as the core decided it. A step's undo may start once `openDependents` others have ended.
 * `undos` also holds relays: steps with nothing to undo that lie between steps that have. They are claimed like the rest and
 * settled as `relayed`, so that the order among the rest needs no other edges than the definition's own.
 * Empty `undos` end the run at once, as `endsAs`.
 */
export interface UndoPlan {
  readonly runId: string
  /** What the drained run said, so that a plan which comes late begins nothing. Left out, it isn't looked at. */
  readonly attempts?: number | undefined
  readonly endsAs: 'failed' | 'compensated' | 'cancelled'
  readonly undos: readonly { readonly step: number; readonly openDependents: number }[]
}

/** A run whose undo was begun. */
export interface BegunUndo {
  readonly runId: string
  readonly status: RunStatus
  /** Of its undos, those that were leased to the caller; given only when a lease was asked for. */
  readonly claims?: readonly Claim[]
}

export interface PayloadRequest {
  readonly runId: string
  /** Steps whose output and error are wanted. */
  readonly steps: readonly number[]
}

export interface RunPayloads {
  readonly runId: string
  readonly input: JsonText
  /** JSON text of a {@link RunCause}; null until the run stops. */
  readonly cause: JsonText
  readonly steps: readonly { readonly step: number; readonly output: JsonText; readonly error: JsonText }[]
}

export interface RunRecord {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly definitionId: number
  readonly key: string | null
  readonly status: RunStatus
  readonly input: JsonText
  readonly cause: JsonText
  /** Epoch milliseconds, store clock. */
  readonly createdAt: number
  readonly finishedAt: number | null
  /** When it may begin, if it was given a start time. */
  readonly startAt: number | null
  /** When it fails unless it has ended by then. */
  readonly deadlineAt: number | null
}

export interface StepRecord {
  readonly step: number
  readonly name: string
  readonly status: StepStatus
  readonly attempt: number
  readonly failures: number
  readonly losses: number
  readonly openDependencies: number
  readonly workerId: string | null
  readonly undoOf: UndoneStatus | null
  readonly output: JsonText
  readonly error: JsonText
  /** When the newest attempt of either direction was claimed and ended. Epoch milliseconds, store clock. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** Of a step that is ready or waiting: when it is due, by a retry's delay or a timer. Null for at once, or for a wait without end. */
  readonly availableAt: number | null
  /** When the step first began to wait. */
  readonly waitingSince: number | null
  /** When the signal came that this step waits for, or will wait for; its payload is the output. */
  readonly signalledAt: number | null
}

export interface RunFilter {
  readonly workflow?: string | undefined
  readonly status?: readonly RunStatus[] | undefined
  readonly key?: string | undefined
  /** Only runs older than this run id; for paging. */
  readonly before?: string | undefined
  readonly limit: number
}
