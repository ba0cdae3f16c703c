import { startPostgres } from '@belay/postgres-server'
import { createDatabase, dropDatabase, withFreshDatabase } from './database.ts'

export interface BenchServer {
  /** The database with the reference rows. */
  readonly url: string
  /** Whether we started it. Then its processes run on this machine and we may read them. */
  readonly isOwn: boolean
  /** Creates a database for `work`, and drops it afterwards. */
  freshDatabase<T>(work: (url: string) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

// Usual settings of a small production server. Durability keeps its default: on.
const SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', checkpoint_timeout: '30min' }

/** A PostgreSQL from npm with durable settings, or the server of DATABASE_URL. */
export async function openServer(): Promise<BenchServer> {
  const given = process.env['DATABASE_URL']
  return given ? openGiven(given) : openOwn()
}

async function openOwn(): Promise<BenchServer> {
  const own = await startPostgres({ major: 18, durable: true, settings: SETTINGS })
  const url = await own.createDatabase()
  return {
    url,
    isOwn: true,
    freshDatabase: (work) => withFreshDatabase(url, work),
    stop: () => own.stop(),
  }
}

/** Another owner's server: nothing is left on it, and the database in its url is used only to connect. */
async function openGiven(given: string): Promise<BenchServer> {
  const url = await createDatabase(given)
  return {
    url,
    isOwn: false,
    freshDatabase: (work) => withFreshDatabase(url, work),
    stop: () => dropDatabase(given, url),
  }
}
