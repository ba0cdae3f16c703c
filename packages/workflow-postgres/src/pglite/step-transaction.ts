import type { TransactionOptions, TypedTransaction } from '@belay/workflow/adapter'
import type { Transaction } from '@electric-sql/pglite'
import type { HandlerGuard } from '../transact/handler-guard.ts'
import { type Installed, optionalDrizzle } from '../transact/optional-drizzle.ts'

// biome-ignore lint/suspicious/noTsIgnore: as for PostgreSQL, programs without drizzle-orm must compile.
/** @ts-ignore: any without drizzle-orm. */
type PgliteTransaction = import('drizzle-orm/pglite/session').PgliteTransaction<
  Record<string, never>,
  Record<string, never>
>

/** A drizzle transaction over PGlite, without a schema for relational queries. */
export type PgliteDrizzle = Installed<PgliteTransaction>

/** The `tx` that a transactional handler gets in PGlite. */
export interface PgliteStepTransaction {
  /** PGlite's transaction. It refuses COMMIT and ROLLBACK, and every statement once the transaction is over. */
  readonly client: Transaction
  /** A drizzle transaction on it; `drizzle.transaction()` is a savepoint. Needs drizzle-orm in your project. */
  readonly drizzle: PgliteDrizzle
}

/**
 * `transaction: pgliteTransaction()` runs a step's handler, or a compensation, in a transaction that commits with its settlement, and gives `tx` its
 * type. PGlite has one session: while the handler runs, all other statements wait. So a handler that uses the database without `tx` deadlocks with
 * itself.
 */
export function pgliteTransaction(options: TransactionOptions = {}): TypedTransaction<PgliteStepTransaction> {
  return options
}

// Separate also because drizzle over PGlite imports PGlite, which not everybody bundles.
const drizzleOver = optionalDrizzle(
  'drizzle-orm @electric-sql/pglite',
  async () => (await import('./drizzle.ts')).drizzleOver,
)

/** Loads what `tx` needs, in the first transaction of a step. */
export const loadDrizzle = (): Promise<void> => drizzleOver.load()

export function stepTransaction(transaction: Transaction, guard: HandlerGuard): PgliteStepTransaction {
  const guarded = guardedTransaction(transaction, guard)
  let drizzle: PgliteDrizzle | undefined
  return {
    client: guarded,
    get drizzle() {
      drizzle ??= drizzleOver.get()(guarded)
      return drizzle
    },
  }
}

// All async, so that a refusal is a rejected promise, like every other failure of these functions.
function guardedTransaction(transaction: Transaction, guard: HandlerGuard): Transaction {
  return {
    async query(text, ...rest) {
      guard.check(text)
      return guard.answering(transaction.query(text, ...rest))
    },
    async sql(strings, ...values) {
      guard.check(strings[0])
      return guard.answering(transaction.sql(strings, ...values))
    },
    async exec(text, options) {
      guard.check(text)
      return guard.answering(transaction.exec(text, options))
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
