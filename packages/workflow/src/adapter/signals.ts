import type { JsonText } from './records.ts'

/** A signal or a decision for one step of a run. */
export interface NewSignal {
  readonly runId: string
  readonly definitionId: number
  /** The step's number in that definition. */
  readonly step: number
  /** Chosen by the sender. One key is recorded once, until an operator makes the step ask anew. */
  readonly key: string
  /** Who decided; null for a signal. */
  readonly actor: string | null
  /** Becomes the step's output. */
  readonly payload: JsonText
  /** A hash of the payload as the sender gave it, before a schema changed it. It shows whether a repeated signal has the same payload. */
  readonly payloadHash?: string | undefined
}

/**
 * The answer to a {@link NewSignal}. `delivered`: the step waited for it and is ready now. `kept`: the step takes it when it begins to wait.
 * `duplicate`: the step has the signal with this key, or had it and takes no signal any more. `ignored`: nothing was recorded, for the given reason.
 * `unknown`: there is no such run, or it follows another definition.
 */
export type Delivery =
  | { readonly result: 'delivered' | 'kept' | 'unknown' }
  /** `recorded` is the step's payload, if it has one; `payloadHash` is the hash that came with it, if any. */
  | {
      readonly result: 'duplicate'
      readonly recorded: JsonText
      readonly payloadHash?: string | undefined
    }
  | {
      readonly result: 'ignored'
      /** `signalled`: the step has another signal. `timed_out`: the step was claimed because its time was over. */
      readonly reason: 'signalled' | 'timed_out' | 'step_over' | 'run_over'
      readonly recorded: JsonText
      readonly payloadHash?: string | undefined
    }
