import type { JsonText } from './records.ts'

/** A signal for one step of a run, or somebody's decision. */
export interface NewSignal {
  readonly runId: string
  readonly definitionId: number
  /** The step's number in that definition. */
  readonly step: number
  /** The sender's name for it: the same key is recorded once, until an operator has the step ask anew. */
  readonly key: string
  /** Who decided; null for a signal. */
  readonly actor: string | null
  /** Becomes the step's output. */
  readonly payload: JsonText
  /** Of the payload as its sender gave it, before a schema changed anything: tells whether a repeated signal says the same. */
  readonly payloadHash?: string | undefined
}

/**
 * What became of a {@link NewSignal}. `delivered`: the step waited for it and is ready. `kept`: the step takes it when it comes to wait.
 * `duplicate`: the step has the signal of this key, or had it and takes none any more. `ignored`: nothing was recorded, for the given reason. `unknown`: there is no such run, or not
 * of this definition.
 */
export type Delivery =
  | { readonly result: 'delivered' | 'kept' | 'unknown' }
  /** `recorded` is the payload the step has, if it has any; `payloadHash` the hash that came with it, if one did. */
  | {
      readonly result: 'duplicate'
      readonly recorded: JsonText
      readonly payloadHash?: string | undefined
    }
  | {
      readonly result: 'ignored'
      /** `signalled`: by another signal. `timed_out`: its timeout is being dealt with. */
      readonly reason: 'signalled' | 'timed_out' | 'step_over' | 'run_over'
      readonly recorded: JsonText
      readonly payloadHash?: string | undefined
    }
