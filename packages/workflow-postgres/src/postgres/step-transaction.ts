import type { TransactionOptions, TypedTransaction } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import type { HandlerGuard } from '../transact/handler-guard.ts'
import { type Installed, optionalDrizzle } from '../transact/optional-drizzle.ts'

// biome-ignore lint/suspicious/noTsIgnore: an optional peer. Programs without it, which see this in a declaration, must compile; here it is no error.
/** @ts-ignore: any without drizzle-orm. */
type NodePgTransaction = import('drizzle-orm/node-postgres/session').NodePgTransaction<
  Record<string, never>,
  Record<string, never>
>

/** A drizzle transaction over node-postgres, without a schema for relational queries. */
export type PostgresDrizzle = Installed<NodePgTransaction>

/** The `tx` that a transactional handler gets on PostgreSQL. */
export interface PostgresStepTransaction {
  /** The transaction's `pg` client. It refuses COMMIT and ROLLBACK, and every statement once the transaction is over. */
  readonly client: PoolClient
  /**
   * A drizzle transaction on it; `drizzle.transaction()` is a savepoint. Needs drizzle-orm in your project. For relational queries, give `client` to
   * drizzle yourself.
   */
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

/** Loads what `tx` needs, in the first transaction of a step. */
export const loadDrizzle = (): Promise<void> => drizzleOver.load()

export function stepTransaction(client: PoolClient, guard: HandlerGuard): PostgresStepTransaction {
  const guarded = guardedClient(client, guard)
  let drizzle: PostgresDrizzle | undefined
  return {
    client: guarded,
    get drizzle() {
      drizzle ??= drizzleOver.get()(guarded)
      return drizzle
    },
  }
}

const drizzleOver = optionalDrizzle('drizzle-orm pg', async () => (await import('./drizzle.ts')).drizzleOver)

const KEPT_FROM_HANDLERS: ReadonlySet<PropertyKey> = new Set(['release', 'end', 'connect'])

function guardedClient(client: PoolClient, guard: HandlerGuard): PoolClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (KEPT_FROM_HANDLERS.has(name)) return () => guard.refuse(`${String(name)}()`)
      return (...args: unknown[]) => {
        if (name !== 'query') return value.apply(target, args)
        guard.check(textOf(args[0]))
        return answering(value as Query, target, args, guard)
      }
    },
  })
}

type Query = (...args: readonly unknown[]) => unknown

/** Calls `query`, and tells the guard how the server answered, in whichever way the caller is told. */
function answering(query: Query, client: PoolClient, args: readonly unknown[], guard: HandlerGuard): unknown {
  const callback = args.at(-1)
  if (typeof callback === 'function') {
    const noting = (error: unknown, result: unknown) => {
      guard.answered(error ?? undefined)
      callback(error, result)
    }
    return query.apply(client, [...args.slice(0, -1), noting])
  }
  const answer = query.apply(client, [...args])
  // A cursor or a stream is no promise, and tells its answers only to its reader.
  return answer instanceof Promise ? guard.answering(answer) : answer
}

function textOf(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'text' in query ? query.text : query
}
