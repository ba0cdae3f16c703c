import type { ChangedRun } from './changed-run.ts'
import type { EndStatus, StepStatus } from './lifecycle.ts'
import type { Claim } from './records.ts'

/** A run that has failed or was cancelled, is not paused, and has no step in flight. */
export interface DrainedRun {
  readonly runId: string
  readonly definitionId: number
  /** `abandonment` is a cancellation that undoes nothing. */
  readonly stop: 'failure' | 'cancellation' | 'abandonment'
  /** The sum of all its steps' fences. It grows when an operator sends the run forward again, so a plan from an earlier drain names a smaller sum. */
  readonly fences?: number
  /**
   * Every step of the run, ascending by number. `started`: its effect may be there, wholly or partly. `succeeded`: its effect is there, although the
   * step did not complete. `decided`: it has a branch; omitted for false.
   */
  readonly steps: readonly {
    readonly step: number
    readonly status: StepStatus
    readonly started: boolean
    readonly succeeded?: boolean | undefined
    readonly decided?: boolean | undefined
  }[]
}

/**
 * The undo that the engine planned for a run. A step's undo may begin once `openDependents` other undos have ended. `undos` also contains relays:
 * steps with nothing to undo that lie between steps that have something to undo. Relays are claimed like other undos and settled as `relayed`, so the
 * undo needs no edges but those of the definition. If `undos` is empty, the run ends at once, as `endsAs`.
 */
export interface UndoPlan {
  readonly runId: string
  /** The sum from the drained run: a plan with an outdated sum begins nothing. Omitted, it is not checked. */
  readonly fences?: number | undefined
  readonly endsAs: Exclude<EndStatus, 'completed'>
  readonly undos: readonly { readonly step: number; readonly openDependents: number }[]
}

/** A run whose undo began. */
export interface BegunUndo extends ChangedRun {
  /** Its undos that were leased to the caller; present only if a lease was asked for. */
  readonly claims?: readonly Claim[]
}
