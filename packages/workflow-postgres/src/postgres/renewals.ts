import { counted, StoreUnavailableError } from '@belay/workflow/adapter'
import type pg from 'pg'
import type { Connection } from '../connection/connection.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { makeStatementsFor, type Statement } from '../connection/statement.ts'
import type { Lifeline } from './lifeline.ts'
import type { Notices } from './notices.ts'

export interface RenewalParts {
  readonly schema: string
  readonly prepare: boolean
  /** Belay's connections, for when the lifeline does not answer. */
  readonly connection: Connection
  readonly lifeline: Lifeline | null
  readonly pool: pg.Pool
  readonly notices: Notices
}

// Parts of the lease: how long the lifeline may take, and how long the pool may take after it.
const LIFELINE_SHARE = 1 / 6
const POOL_SHARE = 1 / 3
const LIFELINE_MS_MIN = 250
const POOL_MS_MIN = 1_000

/** A connection for renewing leases of that length: first the lifeline; if it does not answer within a small part of the lease, the pool. */
export function renewalConnections(parts: RenewalParts): (leaseMs: number) => Connection {
  const { lifeline, connection, schema, prepare } = parts
  const statementFor = makeStatementsFor(schema)
  // By worker: while one renewal waits in the pool, the next one is not queued behind it.
  const pending = new Map<unknown, Promise<unknown>>()
  return (leaseMs) => {
    const lifelineMs = Math.max(LIFELINE_MS_MIN, leaseMs * LIFELINE_SHARE)
    const poolMs = Math.max(POOL_MS_MIN, leaseMs * POOL_SHARE)
    return {
      ...connection,
      async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
        // Through a pooler the lifeline is no safer than other connections, and only its lender notices when a statement hangs there.
        if (lifeline !== null && !lifeline.isPooled) {
          const over = { query: (config: pg.QueryConfig<unknown[]>) => lifeline.query(config, lifelineMs) }
          try {
            return await statementsOver(over, { schema, prepare }, statementFor).query(statement, values)
          } catch {
            // Whatever the error was, repeating the renewal is safe, and the pool reports better what is wrong.
          }
        }
        const [workerId] = values
        const renewal = pending.get(workerId) ?? connection.query(statement, values)
        pending.set(workerId, renewal)
        const forget = () => pending.delete(workerId)
        renewal.then(forget, forget)
        return (await inTime(parts, { noticeMs: lifelineMs, limitMs: poolMs }, renewal)) as readonly Row[]
      },
    }
  }
}

/**
 * Reports a pool in which a renewal finds no connection in time. Stops waiting early enough to try again: the lifeline may be back long before a
 * silently broken connection is recognised.
 */
async function inTime<Result>(
  { pool, notices }: RenewalParts,
  { noticeMs, limitMs }: { noticeMs: number; limitMs: number },
  renewal: Promise<Result>,
): Promise<Result> {
  const notice = setTimeout(() => {
    if (pool.idleCount > 0 || pool.waitingCount === 0) return
    notices.tell({
      level: 'warn',
      code: 'pool_exhausted',
      message: `The renewal of a worker's lease waits for a connection: the pool has ${counted(pool.options.max, 'connection')}, none is free, and ${counted(pool.waitingCount, 'call')} wait. If the lease expires first, the worker's steps run again elsewhere. Raise the pool's size, or give Belay a pool of its own.`,
    })
  }, noticeMs)
  let limit: ReturnType<typeof setTimeout> | undefined
  const givenUp = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      reject(
        new StoreUnavailableError(
          `The renewal of a worker's lease was not answered within ${Math.round(limitMs)} ms.`,
          { remedy: 'Belay tries again; check that the server answers, and that connections are free.' },
        ),
      )
    }, limitMs)
  })
  try {
    return await Promise.race([renewal, givenUp])
  } finally {
    clearTimeout(notice)
    clearTimeout(limit)
  }
}
