import type { TransactionOptions, TypedTransaction } from '@belay/workflow/adapter'
import type { Transaction } from '@electric-sql/pglite'
import type { PgliteTransaction } from 'drizzle-orm/pglite/session'
import type { HandlerGuard } from '../transact/handler-guard.ts'

/** A drizzle transaction over PGlite, without a schema for relational queries. */
export type PgliteDrizzle = PgliteTransaction<Record<string, never>, Record<string, never>>

/** What a transactional handler is given as `tx` in PGlite. */
export interface PgliteStepTransaction {
  /** PGlite's transaction. It refuses COMMIT and ROLLBACK, and everything once the transaction is over. */
  readonly client: Transaction
  /** A drizzle transaction on it; `drizzle.transaction()` is a savepoint. */
  readonly drizzle: PgliteDrizzle
}

/**
 * `transaction: pgliteTransaction()` runs a step's handler, or a compensation, in a transaction that commits with its settlement, and
 * tells the handler what its `tx` is. PGlite has one session: while the handler runs, everything else in the database waits for it, so
 * that a handler which uses the database other than through `tx` waits for itself.
 */
export function pgliteTransaction(options: TransactionOptions = {}): TypedTransaction<PgliteStepTransaction> {
  return options
}

/** Loads what a step's transaction needs, before it begins: drizzle over PGlite brings PGlite itself along, which not everybody bundles. */
export async function loadStepTransaction(): Promise<typeof stepTransaction> {
  drizzleOver ??= (await import('./drizzle.ts')).drizzleOver
  return stepTransaction
}

let drizzleOver: ((transaction: Transaction) => PgliteDrizzle) | undefined

function stepTransaction(transaction: Transaction, guard: HandlerGuard): PgliteStepTransaction {
  const guarded = guardedTransaction(transaction, guard)
  let drizzle: PgliteDrizzle | undefined
  return {
    client: guarded,
    get drizzle() {
      drizzle ??= drizzleOver!(guarded)
      return drizzle
    },
  }
}

// All async: what is refused is a rejection, as every other failure of theirs.
function guardedTransaction(transaction: Transaction, guard: HandlerGuard): Transaction {
  return {
    async query(text, ...rest) {
      guard.check(text)
      return transaction.query(text, ...rest)
    },
    async sql(strings, ...values) {
      guard.check(strings[0])
      return transaction.sql(strings, ...values)
    },
    async exec(text, options) {
      guard.check(text)
      return transaction.exec(text, options)
    },
    async rollback() {
      guard.refuse('rollback()')
    },
    async listen(channel, callback) {
      guard.assertOpen()
      return transaction.listen(channel, callback)
    },
    get closed() {
      return transaction.closed || !guard.isOpen
    },
  }
}
