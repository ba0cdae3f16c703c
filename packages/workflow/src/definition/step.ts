import type { Isolation, StepTransaction } from '../adapter/transaction.ts'
import type { RunCause, SerialisedError } from '../cause.ts'
import type { Logger } from '../logger.ts'
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

export type Handler = (context: StepContext) => unknown
export type CompensationHandler = (context: CompensationContext) => unknown

/** What a step's handler is given. `define()` narrows `input` and `deps`. */
export interface StepContext<Input = unknown, Deps = Readonly<Record<string, unknown>>> {
  readonly runId: string
  /** The step's name. */
  readonly step: string
  readonly input: Input
  /** Outputs of the steps named in `dependsOn`, by name. */
  readonly deps: Deps
  /** 1 for the first try; grows with failures and with lost workers. */
  readonly attempt: number
  /** The same for every attempt of this step of this run, and different from its undo's: give it to external systems. */
  readonly idempotencyKey: string
  /** Aborted when the attempt times out, its lease is lost, its run is stopped, or the worker must leave. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/** What a compensation is given. `define()` narrows `input`, `deps` and `output`. */
export interface CompensationContext<
  Input = unknown,
  Deps = Readonly<Record<string, unknown>>,
  Output = unknown,
> extends StepContext<Input, Deps> {
  /** The status of the step that is being undone. Only `completed` has an output. */
  readonly undoOf: 'completed' | 'failed' | 'cancelled'
  /** The step's output when it completed, else undefined. */
  readonly output: Output
  /** The step's last error when it did not complete, else undefined. */
  readonly error: SerialisedError | undefined
  /** Why the run is being undone. */
  readonly cause: RunCause
}

/** What a transactional handler is given besides the rest. */
export interface TransactionContext<Tx = StepTransaction> {
  /** The open transaction: what is written through it commits with the step's settlement, or not at all. */
  readonly tx: Tx
}
