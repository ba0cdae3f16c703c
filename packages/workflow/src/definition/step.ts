import type { Isolation } from '../adapter/transaction.ts'
import type { CompensationHandler, Handler } from './handler.ts'
import type { Wait } from './wait.ts'

/** What the engine needs to know of one step. Made by `define()` and `defineGraph()`; all durations are milliseconds. */
export interface StepDefinition {
  readonly name: string
  /** Position in the definition's canonical topological order; the number the store knows the step by. */
  readonly number: number
  /** Names, in the order they were declared. */
  readonly dependsOn: readonly string[]
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  /** How many workers may be lost in this step before it fails for good. */
  readonly lossesMax: number
  /** Set when the handler runs in a transaction of the store, which commits with the step's settlement. */
  readonly transaction: TransactionPolicy | null
  /** Null in a process that only triggers runs, and in most steps that wait. */
  readonly run: Handler | null
  /** Null for a step that works. */
  readonly wait: Wait | null
  readonly compensation: Compensation | null
}

export interface Compensation {
  /** Null in a process that only triggers runs. */
  readonly run: CompensationHandler | null
  /** `completed`: undo only what is known to have completed. `started`: also what failed, timed out or lost its worker. */
  readonly on: 'completed' | 'started'
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly transaction: TransactionPolicy | null
}

export interface TransactionPolicy {
  readonly isolation: Isolation
}

export interface RetryPolicy {
  /** All attempts, the first included; at least 1. */
  readonly attempts: number
  readonly backoff: 'exponential' | 'linear' | 'constant'
  readonly initialMs: number
  readonly maxMs: number
  /** Spreads each delay over the upper half of its value, so that failures at one moment don't come back at one moment. */
  readonly jitter: boolean
  /** No attempt begins, or goes on, later than this after the first failed one began; null for no such limit. */
  readonly forMs: number | null
}
