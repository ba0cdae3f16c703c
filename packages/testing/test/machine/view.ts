import type { JsonText } from '@belay/workflow/adapter'

/** What both engines show of a run at rest. Units have the names that people use: `a`, a map `m`, its item `m[0]`. */
export interface View {
  readonly run: string
  /** The status of each unit, by the word that people read. */
  readonly units: Readonly<Record<string, string>>
  /** What is with a handler. */
  readonly asks: Readonly<Record<string, Ask>>
  /** Which effect of each unit this is. */
  readonly rounds: Readonly<Record<string, number>>
}

export interface Ask {
  readonly phase: AskPhase
  readonly attempt: number
  readonly round: number
}

export type AskPhase = 'decide' | 'open' | 'run' | 'undo'

/** One thing that happens to a run, told to both engines. */
export type Happening =
  /** `yes`: whether a step is wanted, that a poll has its answer, or that a round is the last. */
  | {
      readonly does: 'complete'
      readonly unit: string
      readonly yes: boolean
      readonly items: number
      readonly output: string
      /** Of a round, before the next one. */
      readonly laterMs: number
    }
  | { readonly does: 'fail'; readonly unit: string }
  | { readonly does: 'succeedUnstorably'; readonly unit: string }
  | { readonly does: 'release'; readonly unit: string }
  | { readonly does: 'lose'; readonly unit: string }
  | { readonly does: 'tryAgain'; readonly unit: string; readonly delayMs: number }
  /** Of an approval, `rejects` says which. */
  | { readonly does: 'signal'; readonly unit: string; readonly rejects: boolean }
  /** Whoever has handlers is gone. */
  | { readonly does: 'takeover' }
  | { readonly does: 'pass'; readonly ms: number }
  | { readonly does: 'operate'; readonly action: RunAction }
  | { readonly does: 'operate'; readonly action: StepAction; readonly unit: string }

export type RunAction = 'pause' | 'resume' | 'retry' | 'cancel' | 'abandon'
export type StepAction = 'retryStep' | 'skipStep' | 'giveUpStep' | 'retryCompensation' | 'skipCompensation'

/** What an operator or a sender of a signal is told. */
export type Reply = 'done' | 'unchanged' | { readonly refused: string }

export interface Engine {
  apply(happening: Happening): Promise<Reply | undefined>
  view(): Promise<View>
}

/** The delays of whatever waits by a clock: a sleep, the next check of a poll. */
export const WAIT_MS = 2_000

/** An operator's stand-in for the output of a step. */
export const STAND_IN = 'x'

export const jsonOf = (value: unknown): JsonText => JSON.stringify(value)
