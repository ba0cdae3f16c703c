import { startPostgres } from '@belay/postgres-server'
import { withFreshDatabase } from './database.ts'

export interface BenchServer {
  /** An empty database, where the reference rows live. */
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
  const own = given ? undefined : await startPostgres({ major: 18, durable: true, settings: SETTINGS })
  const url = given ?? (await own!.createDatabase())
  return {
    url,
    isOwn: own !== undefined,
    freshDatabase: (work) => withFreshDatabase(url, work),
    async stop() {
      await own?.stop()
    },
  }
}
