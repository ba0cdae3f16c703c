import type { RunStatus } from './lifecycle.ts'

/** What an attempt tells while it runs: a value of its run, or the progress of its step. */
export interface NewValue {
  readonly runId: string
  readonly step: number
  readonly fence: number
  /** The value's key in the run; null for the step's progress; a `heartbeatKey()` for the details of its heartbeats. */
  readonly key: string | null
  /** Grows with every value of the attempt. With the fence, it orders the values that a step gives one key. */
  readonly sequence: number
  /** How long ago the handler gave the value, in milliseconds: it orders the values that different steps give one key. */
  readonly ageMs: number
  /** JSON text. */
  readonly value: string
}

export interface PublishRequest {
  readonly workerId: string
  readonly values: readonly NewValue[]
  /** The most keys that a run may have. */
  readonly keysMax: number
}

/**
 * `stored`: the value, or a newer one of its step, is stored. `lost`: the worker does not hold the attempt's step any more. `busy`: another
 * transaction has locked the step or the value; send it again. `too_many`: the key is new, and the run has `keysMax` keys. `refused`: the store can never
 * store the value, for this reason.
 */
export type Published = 'stored' | 'lost' | 'busy' | 'too_many' | { readonly refused: string }

/** A value of a run, or the progress of one of its steps. */
export interface ValueRecord {
  /** The step that gave it. */
  readonly step: number
  readonly name: string
  /** Null for the step's progress. */
  readonly key: string | null
  /** JSON text. */
  readonly value: string
  /** When the step gave it, by the store's clock. */
  readonly at: number
}

/** A run as its watchers see it before they read it. */
export interface ObservedRun {
  readonly runId: string
  readonly status: RunStatus
  /** A text that changes when the status of a step changes, or one of its counts. Opaque: texts are compared, never read. */
  readonly steps: string
  /** A text that changes when the run gets a value, or a step makes progress. Empty while there are none. Opaque. */
  readonly values: string
}

/** Between processes: somebody awaits the end of these runs, or they have ended. */
export interface RunNews {
  readonly type: 'awaited' | 'ended'
  readonly runIds: readonly string[]
}
