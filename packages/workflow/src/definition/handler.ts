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
  /** From 1. Grows with every failure and every lost worker. */
  readonly attempt: number
  /** The same for every attempt of this step in this run; its compensation has another one. Pass it to external systems. */
  readonly idempotencyKey: string
  /** Aborted when the attempt times out, its lease is lost, its run is stopped, or the worker shuts down. */
  readonly signal: AbortSignal
  readonly log: Logger
  /**
   * Gives the run a value, for those who watch it: of each key the latest counts. Resolves once the value is accepted; it is stored before the step's
   * outcome is recorded, and usually within a quarter of a second. In a transactional step it is stored when the transaction commits. The key has 1
   * to 512 characters; `undefined` is stored as `null`.
   *
   * @throws BelayError `invalid_option`, `payload_unserialisable`, `payload_too_large`, `too_many_values`; `attempt_ended` after the handler has
   * ended or its step was lost.
   */
  readonly publish: (key: string, value: unknown) => Promise<void>
  /**
   * Tells how far the step is: `done` of `total`, with a note of up to 500 characters. Only the latest counts. Like `publish()` otherwise.
   *
   * @throws BelayError `invalid_option`, `attempt_ended`.
   */
  readonly progress: (done: number, total?: number, note?: string) => Promise<void>
  /**
   * Tells that the handler is alive: with `heartbeatTimeout`, an attempt that stays silent for that long fails. `details`, a JSON value, is kept for
   * the next attempt, in which it is `lastHeartbeat`, also if this worker dies. Only the latest counts. Resolves like `publish()`; a transactional
   * step keeps no details.
   *
   * @throws BelayError `payload_unserialisable`, `payload_too_large`, `attempt_ended`.
   */
  readonly heartbeat: (details?: unknown) => Promise<void>
  /** The newest details that an earlier attempt gave `heartbeat()`, in this round and direction of the step. Undefined if there are none. */
  readonly lastHeartbeat: unknown
}

/** What a compensation is given. `define()` narrows `input`, `deps` and `output`. */
export interface CompensationContext<
  Input = unknown,
  Deps = Readonly<Record<string, unknown>>,
  Output = unknown,
> extends StepContext<Input, Deps> {
  /** The status of the step that is being undone. Only `completed` has an output. */
  readonly undoOf: 'completed' | 'failed' | 'cancelled'
  /** The step's output if it completed, else undefined. */
  readonly output: Output
  /** The step's last error if it did not complete, else undefined. */
  readonly error: SerialisedError | undefined
  /** Why the run is being undone. */
  readonly cause: RunCause
}

/** What a transactional handler is given in addition. */
export interface TransactionContext<Tx = StepTransaction> {
  /** The open transaction. Writes through it commit together with the step's outcome, or not at all. */
  readonly tx: Tx
}
