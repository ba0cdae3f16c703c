import type { StartLimit } from './limits.ts'
import type { Claim, JsonText } from './records.ts'
import type { ParentRun } from './run-ends.ts'

/** A run to be started. */
export interface NewRun {
  /** Time-ordered UUID, made by the client. */
  readonly runId: string
  readonly definitionId: number
  readonly workflow: string
  readonly key: string | null
  readonly input: JsonText
  /** Only for a run with a key: a hash of the input as its caller gave it, before a schema changed it. Stored with the run. */
  readonly inputHash?: string | null | undefined
  /** When the run's first steps may begin: an instant in epoch milliseconds, or a delay from now. Without either, or if it has passed, at once. */
  readonly startAt?: number | undefined
  readonly startDelayMs?: number | undefined
  /** The run fails if it has not ended this long after its start. */
  readonly deadlineMs?: number | undefined
  /** Tags to find the run by. No duplicates, no empty texts. */
  readonly tags?: readonly string[] | undefined
  /** Whole number from 0 to `PRIORITY_MAX`; default 0. Claims take steps of runs with a higher one first, see `placeOf()`. */
  readonly priority?: number | undefined
  /** For each step of the definition, the priority that is added to the run's. Default: all 0. */
  readonly stepPriorities?: readonly number[] | undefined
  /** The run that this one is started for. */
  readonly parent?: ParentRun | undefined
  /**
   * Only of the child of a step: the fence of the attempt that starts it. Nothing is started once that attempt holds the step no more, forward or in
   * its undo: nobody would undo the child. Default: not checked.
   */
  readonly parentFence?: number | undefined
  /**
   * Limits at which the start is refused: the run takes a slot of each when it is created. Nothing of a call with such a run is leased. Default: none.
   */
  readonly limits?: readonly StartLimit[] | undefined
  /** Each end of the run is kept for `findRunEnds`, until it is forgotten. Default false. */
  readonly reportsEnd?: boolean | undefined
}

/** The answer to a {@link NewRun}. If its key was taken, `created` is false and the rest describes the run that has the key. */
export interface StartedRun {
  readonly runId: string
  readonly created: boolean
  readonly definitionId: number
  readonly input: JsonText
  /** Only if the run already existed: its definition's version, and its stored input hash if it has one. */
  readonly version?: number | undefined
  readonly inputHash?: string | null | undefined
  /** Only if nothing was started, because this limit of the run has no slot; with the number of slots that the store gives each key. */
  readonly full?: StartLimit | undefined
  /** Only if nothing was started, because the attempt with `parentFence` does not hold the parent's step any more. */
  readonly lost?: true | undefined
  /** The steps of the run that were leased to the named worker; absent if no worker was named. */
  readonly claims?: readonly Claim[]
}
