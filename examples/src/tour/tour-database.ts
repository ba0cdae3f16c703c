import { startPostgres } from '@belay/postgres-server'

/** A PostgreSQL that several processes can use. */
export interface TourDatabase {
  readonly url: string
  readonly description: string
  /** Ends the server and deletes its files, if it is the tour's own. Idempotent. */
  close(): Promise<void>
}

/** Why no PostgreSQL server can be started on this machine. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError'
}

/** Starts a PostgreSQL server of the tour's own, unless DATABASE_URL names one. Throws {@link NoServerError}. */
export async function openTourDatabase(url: string | undefined): Promise<TourDatabase> {
  if (url !== undefined) return { url, description: 'the PostgreSQL of DATABASE_URL', close: async () => {} }
  try {
    const server = await startPostgres({ major: 18 })
    return {
      url: server.url,
      description: 'a PostgreSQL 18 from npm, which ends with this program',
      close: () => server.stop(),
    }
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new NoServerError(reason, { cause })
  }
}
