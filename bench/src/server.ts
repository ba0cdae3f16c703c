import { startPostgres } from '@belay/postgres-server'
import { createDatabase, dropDatabase, withFreshDatabase } from './database.ts'

export interface BenchServer {
  /** The database where the reference rows live. */
  readonly url: string
  /** Whether we started it: then its processes are on this machine and ours to look at. */
  readonly isOwn: boolean
  /** Gives `work` a database of its own, and removes it. */
  freshDatabase<T>(work: (url: string) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

// What people set on a small production server; durability is left as it is by default: on.
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

/** Somebody else's server: nothing is left on it, and the database that its url names is only passed through. */
async function openGiven(given: string): Promise<BenchServer> {
  const url = await createDatabase(given)
  return {
    url,
    isOwn: false,
    freshDatabase: (work) => withFreshDatabase(url, work),
    stop: () => dropDatabase(given, url),
  }
}
