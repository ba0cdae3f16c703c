import type pg from 'pg'
import type { Connection } from '../connection/connection.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { makeStatementsFor } from '../connection/statement.ts'
import type { Lifeline } from './lifeline.ts'
import type { Notices } from './notices.ts'

export interface RenewalParts {
  readonly schema: string
  readonly prepare: boolean
  /** Belay's connections, when the lifeline doesn't answer. */
  readonly connection: Connection
  readonly lifeline: Lifeline | null
  readonly pool: pg.Pool
  readonly notices: Notices
}

const PATIENCE_MS_MIN = 250

/** A connection for renewing leases of that length: the lifeline, and when that is silent for a small part of the lease, any. */
export function renewalConnections(parts: RenewalParts): (leaseMs: number) => Connection {
  const { lifeline, connection, schema, prepare } = parts
  const statementFor = makeStatementsFor(schema)
  return (leaseMs) => {
    const patienceMs = Math.max(PATIENCE_MS_MIN, leaseMs / 6)
    return {
      ...connection,
      async query(statement, values) {
        // Through a pooler it is no safer than any other, and what hangs there can only be told by its lender.
        if (lifeline !== null && !lifeline.isPooled) {
          const over = { query: (config: pg.QueryConfig<unknown[]>) => lifeline.query(config, patienceMs) }
          try {
            return await statementsOver(over, { schema, prepare }, statementFor).query(statement, values)
          } catch {
            // Whatever it was, the renewal may be made again, and the pool says better what is wrong.
          }
        }
        return noticing(parts, patienceMs, () => connection.query(statement, values))
      },
    }
  }
}

/** Tells of a pool in which a renewal finds no connection in time. */
async function noticing<Result>(
  { pool, notices }: RenewalParts,
  patienceMs: number,
  run: () => Promise<Result>,
): Promise<Result> {
  const timer = setTimeout(() => {
    if (pool.idleCount > 0 || pool.waitingCount === 0) return
    notices.tell({
      level: 'warn',
      code: 'pool_exhausted',
      message: `The renewal of a worker's lease waits for a connection: all ${pool.options.max} of the pool are in use, and ${pool.waitingCount} calls wait. When the lease ends before one is free, the worker's steps run again elsewhere. Raise the pool's size, or give Belay a pool of its own.`,
    })
  }, patienceMs)
  try {
    return await run()
  } finally {
    clearTimeout(timer)
  }
}
