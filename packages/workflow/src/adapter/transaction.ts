import type { FreesSlots } from './limits.ts'
import type { Outcome, Settlement } from './records.ts'
import type { KeepsAttempts } from './trail.ts'
import type { NewValue, Published } from './values.ts'

/** The transaction's isolation level, as in PostgreSQL. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

export interface TransactionOptions {
  /** Default `read committed`. Stricter levels repeat a step more often, since the engine's own rows are part of its transaction. */
  readonly isolation?: Isolation | undefined
}

/** Options that know the type of `tx`. Adapters make them: `postgresTransaction()`, `pgliteTransaction()`. */
export interface TypedTransaction<Tx> extends TransactionOptions {
  /** Only carries a type: the property does not exist at run time. */
  readonly '~tx'?: Tx | undefined
}

/** The open transaction that a transactional handler receives. Adapters define `client` and `drizzle`. */
export interface StepTransaction {
  /** The store's own client, inside the transaction. */
  readonly client: unknown
  /** A Drizzle transaction on that client. */
  readonly drizzle: unknown
}

/**
 * The transactions that the option `tx` takes, by kind. An adapter adds those that it accepts:
 * `declare module '@belay/workflow/adapter' { interface CallerTransactions { mine: MyTransaction } }`.
 */
export interface CallerTransactions {
  readonly step: StepTransaction
}

/** What the option `tx` takes. Anything, if no adapter says what it accepts. */
export type CallerTransaction = keyof CallerTransactions extends 'step'
  ? unknown
  : CallerTransactions[keyof CallerTransactions]

/** The caller's open transaction, of which the verb becomes part. Adapters define what they accept. */
export interface WithinTransaction {
  readonly tx?: unknown
}

/** An outcome of an attempt that succeeded: only these can be settled in the step's transaction. */
export type EndedWell = Extract<Outcome, { type: 'completed' | 'repeated' | 'compensated' }>

export interface TransactRequest extends KeepsAttempts {
  readonly workerId: string
  readonly isolation: Isolation
  /** Fires when nobody waits for the transaction any more. Then it is not begun; if it has begun, it ends soon. */
  readonly signal?: AbortSignal | undefined
  /**
   * Does the work inside the transaction. Resolves to its outcome, to how many of the steps which that makes ready may be leased to this worker, and
   * to the values that are stored with it.
   * Null or a rejection rolls everything back. Not called if the transaction cannot begin.
   */
  readonly work: (tx: StepTransaction) => Promise<SubmittedWork | null>
}

/** What the work in a step's transaction came to. */
export interface SubmittedWork extends FreesSlots {
  readonly outcome: EndedWell
  readonly handBackMax: number
  /** What the attempt told: stored as by `publish`, in the same transaction. */
  readonly told?: { readonly values: readonly NewValue[]; readonly keysMax: number } | undefined
}

/** How a transaction ended. Unless it is `settled`, it left nothing in the store. */
export type Transacted =
  /** The work and the outcome are committed. The settlement's claims are leased to this worker. */
  | { readonly type: 'settled'; readonly settlement: Settlement }
  /** The attempt no longer held its step. */
  | { readonly type: 'lost' }
  /** The work asked for a rollback, failed, or used the transaction in a forbidden way. `error` is what the work threw, or the adapter's reason. */
  | { readonly type: 'rolled_back'; readonly error?: unknown }
  /** The store can never store this outcome, for the given reason. The engine decides what to record instead. */
  | { readonly type: 'refused'; readonly reason: string }
  /** Rolled back, because the store cannot store these values. Results are in order. */
  | { readonly type: 'unpublished'; readonly results: readonly Published[] }
  /** Rolled back because of another transaction, during the work or at COMMIT. The same work may succeed if repeated. */
  | { readonly type: 'conflict'; readonly error: unknown }
  /**
   * Rolled back for a reason of the store's own, during the work or at COMMIT: its disk is full, it shuts down, it takes no writes. The same work may
   * succeed once the store has recovered, however long that takes.
   */
  | { readonly type: 'unavailable'; readonly error: unknown }
