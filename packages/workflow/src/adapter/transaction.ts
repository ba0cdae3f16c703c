import type { Outcome, Settlement } from './records.ts'
import type { KeepsAttempts } from './trail.ts'

/** How much a transaction is kept apart from those beside it: PostgreSQL's levels. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

export interface TransactionOptions {
  /** Default `read committed`. Under the stricter levels a step is repeated more often, since the engine's own rows are part of it. */
  readonly isolation?: Isolation | undefined
}

/** Options that know what `tx` is. Adapters make them: `postgresTransaction()`, `pgliteTransaction()`. */
export interface TypedTransaction<Tx> extends TransactionOptions {
  /** Carries a type only: there is no such property at run time. */
  readonly '~tx'?: Tx | undefined
}

/** What a transactional handler is given: the open transaction. Adapters say what `client` and `drizzle` are. */
export interface StepTransaction {
  /** The store's own client, inside the transaction. */
  readonly client: unknown
  /** A drizzle transaction on that client. */
  readonly drizzle: unknown
}

/** Names the transaction, opened by the caller, that a verb is to be part of. Adapters say what they recognise. */
export interface WithinTransaction {
  readonly tx?: unknown
}

/** An outcome that a transaction can be settled with: the attempt ended well. */
export type EndedWell = Extract<Outcome, { type: 'completed' | 'compensated' }>

export interface TransactRequest extends KeepsAttempts {
  readonly workerId: string
  readonly isolation: Isolation
  /** Fires when nobody waits for the transaction any more: then it is not begun, and one that was begun ends soon. */
  readonly signal?: AbortSignal | undefined
  /**
   * Does the work inside the transaction. Resolves to the outcome to be settled with it, and how many of the steps it makes ready may be
   * leased to this worker; null, or a rejection, rolls everything back. It is not called when the transaction cannot be begun.
   */
  readonly work: (
    tx: StepTransaction,
  ) => Promise<{ readonly outcome: EndedWell; readonly handBackMax: number } | null>
}

/** What became of a transaction. Whatever it says but `settled`, nothing of it is left in the store. */
export type Transacted =
  /** The work and the outcome are committed. Claims in the settlement are this worker's from now on. */
  | { readonly type: 'settled'; readonly settlement: Settlement }
  /** The attempt's lease had moved on. */
  | { readonly type: 'lost' }
  /** The work asked for it or failed, or did to the transaction what it must not. `error` is what the work threw, or the adapter's reason. */
  | { readonly type: 'rolled_back'; readonly error?: unknown }
  /** The store can never take what the outcome holds, for the reason given. What that means is for the engine to decide. */
  | { readonly type: 'refused'; readonly reason: string }
  /** Given up for the sake of another transaction, in the work or at its end: the same again may succeed. */
  | { readonly type: 'conflict'; readonly error: unknown }
