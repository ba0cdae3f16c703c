import type { SkipReason } from '../adapter/branch.ts'
import type { Phase } from './state.ts'

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
  /** It runs again in its round: attempts of this phase go on counting. */
  readonly tried?: Phase
  /** Of a root: its parent has paused the run. */
  readonly pausedBy?: 'parent'
  /** An operator’s: its dependents run although it was skipped. */
  readonly standIn?: true
  readonly skippedUndo?: true
  readonly [own: string]: unknown
}
