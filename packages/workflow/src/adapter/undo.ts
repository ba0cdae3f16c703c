import type { ChangedRun } from './changed-run.ts'
import type { EndStatus, StepStatus } from './lifecycle.ts'
import type { Claim } from './records.ts'

/** A run, not paused, that has failed or was cancelled and in which nothing is in flight any more. */
export interface DrainedRun {
  readonly runId: string
  readonly definitionId: number
  /** `abandonment` is a cancellation that leaves every effect as it is. */
  readonly stop: 'failure' | 'cancellation' | 'abandonment'
  /** The fences of all its steps, summed up: more than at any earlier drain, which may have been before an operator sent the run forward again. */
  readonly fences?: number
  /**
   * Every step of the run, ascending by number. `started`: its effect may be there, or parts of it. `succeeded`: its effect is there, although
   * the step did not complete.
   */
  readonly steps: readonly {
    readonly step: number
    readonly status: StepStatus
    readonly started: boolean
    readonly succeeded?: boolean | undefined
  }[]
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
  readonly fences?: number | undefined
  readonly endsAs: Exclude<EndStatus, 'completed'>
  readonly undos: readonly { readonly step: number; readonly openDependents: number }[]
}

/** A run whose undo was begun. */
export interface BegunUndo extends ChangedRun {
  /** Of its undos, those that were leased to the caller; given only when a lease was asked for. */
  readonly claims?: readonly Claim[]
}
