import type { MachineEvent } from '../machine/index.ts'

/** What an ask comes to: `done`, `failed`, `released` or `lined`, for its unit and its serial. */
export type Answered = Extract<MachineEvent, { readonly type: 'done' | 'failed' | 'released' | 'lined' }>

/** A handler that was called, and has not answered. */
export interface UnderWay {
  /** Never rejects. */
  readonly answered: Promise<Answered>
  /** It is to end: the machine says so, its worker stops, or its worker was declared dead, and nobody waits for its answer. */
  interrupt(reason: Interruption): void
}

export type Interruption = 'aborted' | 'stopping' | 'lost'
