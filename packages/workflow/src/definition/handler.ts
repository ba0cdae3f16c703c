import type { StepTransaction } from '../adapter/transaction.ts'
import type { RunCause, SerialisedError } from '../cause.ts'
import type { Logger } from '../logger.ts'

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
