import type { Direction, JsonText } from './records.ts'

/**
 * How an attempt ended. `completed`, `compensated`; `skipped`: its definition skipped the step; `waiting`: its step must go on waiting; `retrying`: it failed and another attempt follows;
 * `failed`, `compensation_failed`: failed for good; `released`: its worker left, and its handler may have begun; `lost`: its worker died; `given_up`:
 * an operator ended it.
 */
export type AttemptResult =
  | 'completed'
  | 'skipped'
  | 'compensated'
  | 'waiting'
  | 'retrying'
  | 'failed'
  | 'compensation_failed'
  | 'released'
  | 'lost'
  | 'given_up'

/** Whether the verb keeps each attempt that it ends, as one row. */
export interface KeepsAttempts {
  readonly keepAttempts?: boolean | undefined
}

/** An ended attempt that was kept. Instants are epoch milliseconds, store clock. */
export interface KeptAttempt {
  /** The step's number and name in the definition that its run follows now. */
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
