import type { TransactionOptions, TypedTransaction } from '@belay/workflow/adapter'
import { NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres/session'
import { PgDialect } from 'drizzle-orm/pg-core/dialect'
import type { PoolClient } from 'pg'
import type { HandlerGuard } from '../transact/handler-guard.ts'

/** A drizzle transaction over node-postgres, without a schema for relational queries. */
export type PostgresDrizzle = NodePgTransaction<Record<string, never>, Record<string, never>>

/** The `tx` that a transactional handler gets on PostgreSQL. */
export interface PostgresStepTransaction {
  /** The transaction's `pg` client. It refuses COMMIT and ROLLBACK, and every statement once the transaction is over. */
  readonly client: PoolClient
  /** A drizzle transaction on it; `drizzle.transaction()` is a savepoint. For relational queries, give `client` to drizzle yourself. */
  readonly drizzle: PostgresDrizzle
}

/**
 * `transaction: postgresTransaction()` runs a step's handler, or a compensation, in a transaction that commits with its settlement, and gives `tx`
 * its type.
 */
export function postgresTransaction(
  options: TransactionOptions = {},
): TypedTransaction<PostgresStepTransaction> {
  return options
}

export function stepTransaction(client: PoolClient, guard: HandlerGuard): PostgresStepTransaction {
  const guarded = guardedClient(client, guard)
  let drizzle: PostgresDrizzle | undefined
  return {
    client: guarded,
    get drizzle() {
      drizzle ??= drizzleOver(guarded)
      return drizzle
    },
  }
}

function drizzleOver(client: PoolClient): PostgresDrizzle {
  const dialect = new PgDialect()
  const session = new NodePgSession<Record<string, never>, Record<string, never>>(client, dialect, undefined)
  return new NodePgTransaction<Record<string, never>, Record<string, never>>(dialect, session, undefined)
}

const KEPT_FROM_HANDLERS: ReadonlySet<PropertyKey> = new Set(['release', 'end', 'connect'])

function guardedClient(client: PoolClient, guard: HandlerGuard): PoolClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (KEPT_FROM_HANDLERS.has(name)) return () => guard.refuse(`${String(name)}()`)
      return (...args: unknown[]) => {
        if (name === 'query') guard.check(textOf(args[0]))
        return value.apply(target, args)
      }
    },
  })
}

function textOf(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'text' in query ? query.text : query
}
