import type { SkipReason } from '../adapter/branch.ts'

/**
 * Where a unit is. `waiting`: for a time, for mail or for a slot. `open`: a scope whose units are under way. `parked`: it failed for good after a pivot, and an
 * operator decides. `stopping`: it was told to end. `undoing`, `stuck` (its undo failed for good), `undone`: what it did is taken back; `of` keeps how it had
 * ended before.
 */
export type Status =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'open'
  | 'parked'
  | 'stopping'
  | 'completed'
  | 'skipped'
  | 'failed'
  | 'cancelled'
  | 'undoing'
  | 'stuck'
  | 'undone'

/**
 * What a handler is asked: whether the unit is wanted, what it opens, its work, what follows a signal that did not come, its undo; and while units of a scope
 * are under way or have ended: a function’s body, whether a loop goes on, what a map’s items come to. `wait` asks nobody: the kind knows what ends it.
 */
export type Phase = 'decide' | 'open' | 'run' | 'timeout' | 'undo' | 'wait' | ScopePhase
export type ScopePhase = 'body' | 'until' | 'gather'

/** How often one direction of a unit was tried. Forward and undo have one each, and nothing of the one is overwritten by the other. */
export interface Tries {
  /** Of the ask that is under way or was the last one, from 1; it grows with each failure and each lost worker. */
  attempt: number
  /** The policy of retries counts these. */
  failures: number
  /** Attempts whose worker was lost. */
  losses: number
  /** Lost attempts of which a row was committed before the handler was called: only these make a unit poison. */
  kills: number
  /** When somebody must look again; null: nobody need. Epoch milliseconds of the store's clock. */
  due: number | null
  /** When the first attempt of the failures that are being retried began; null if none has failed. */
  series: number | null
}

export const noTries = (): Tries => ({
  attempt: 0,
  failures: 0,
  losses: 0,
  kills: 0,
  due: null,
  series: null,
})

/** A place in the line of a limit. */
export interface Line {
  readonly limit: string
  readonly key: string
  readonly place: number
}

/** Why a unit was stopped or undone for itself, rather than with its scope. */
export interface Cause {
  readonly failed?: true
  readonly cancelled?: string
  /** What it did stays. */
  readonly keep?: boolean
  readonly error?: unknown
  /** The number of the unit that failed. */
  readonly unit?: number
}

/** What a unit’s row keeps besides its columns: each kind names what is its own. */
export interface Note {
  readonly cause?: Cause
  /** A scope that failed, and whose units are still under way. */
  readonly failed?: true
  readonly skip?: SkipReason
  /** Its place among those that wait for a slot, until its handler is called. */
  readonly line?: Line
  /** Its scope was told that it has completed; units of it are still under way. */
  readonly told?: true
  /** Its `when` was true. A retry in the same round does not ask again. */
  readonly decided?: true
  /** When it answered for the first time that it is to be asked again. Epoch milliseconds. */
  readonly since?: number
  /** It runs again in its round: attempts of this phase go on counting. */
  readonly tried?: Phase
  /** Of a root: its parent has paused the run. */
  readonly pausedBy?: 'parent'
  /** An operator’s: its dependents run although it was skipped. */
  readonly standIn?: true
  readonly skippedUndo?: true
  readonly [own: string]: unknown
}
