import type { Direction, JsonText } from './records.ts'

/**
 * How an attempt ended. `completed`, `compensated`; `waiting`: it found that its step must wait on; `retrying`: it failed and another follows;
 * `failed`, `compensation_failed`: for good; `released`: its worker left, and its handler may have begun; `lost`: its worker died;
 * `given_up`: by an operator.
 */
export type AttemptResult =
  | 'completed'
  | 'compensated'
  | 'waiting'
  | 'retrying'
  | 'failed'
  | 'compensation_failed'
  | 'released'
  | 'lost'
  | 'given_up'

/** Asks a verb to keep the attempts that it ends, each as one row. */
export interface KeepsAttempts {
  readonly keepAttempts?: boolean | undefined
}

/** An attempt that has ended, and was kept. Instants are epoch milliseconds, store clock. */
export interface KeptAttempt {
  /** The step's number in the definition that its run follows now, and its name. */
  readonly step: number
  readonly name: string
  readonly direction: Direction
  readonly round: number
  readonly attempt: number
  readonly workerId: string | null
  readonly startedAt: number | null
  readonly finishedAt: number
  readonly ended: AttemptResult
  readonly error: JsonText
}
