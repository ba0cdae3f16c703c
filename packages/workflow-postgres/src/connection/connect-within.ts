import { StoreUnavailableError } from '@belay/workflow/adapter'
import type { Pool, PoolClient } from 'pg'
import { within } from './within.ts'

/** Takes a client of a pool, which may have no limit of its own for that. One that comes too late goes back. */
export async function connectWithin(pool: Pool, limitMs: number): Promise<PoolClient> {
  const connecting = pool.connect()
  try {
    return await within(limitMs, connecting, () => tooLate(pool, limitMs))
  } catch (error) {
    connecting.then((client) => client.release(), ignore)
    throw error
  }
}

function tooLate({ totalCount, idleCount, options, waitingCount }: Pool, limitMs: number): Error {
  return new StoreUnavailableError(
    `No connection of the pool could be had within ${limitMs} ms: ${totalCount - idleCount} of at most ${options.max} are in use, and ${waitingCount} callers wait for one. Give them back sooner, or raise the pool's \`max\`.`,
  )
}

function ignore() {}
