import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished, TestRunner } from 'vitest'
import { type PostgresAdapter, type PostgresOptions, postgres } from '../../src/index.ts'
import { recycleSessions } from './recycled-sessions.ts'
import { SpareSchemas } from './spare-schemas.ts'

/** The servers for the tests: `describe.each(servers)('… on $name', ({ url }) => …)`. `npm run oldest` runs what has a server's name in its title. */
export const servers = inject('servers')

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
  /** Adapters over the pool. The pool is ended once they have released its connections. */
  readonly stores: PostgresAdapter[]
  readonly schemas: SpareSchemas
  drop(): Promise<void>
}

/** A new, empty database on a server. With `recyclesSessions` its pool keeps the sessions that closed adapters leave. */
export async function createDatabase(
  serverUrl: string,
  { recyclesSessions = false } = {},
): Promise<TestDatabase> {
  const name = `belay_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `create database ${name} template template0`)
  const location = new URL(serverUrl)
  location.pathname = `/${name}`
  // Each adapter with a worker keeps one of them.
  const pool = new pg.Pool({ connectionString: location.href, max: 30 })
  pool.on('error', () => {})
  if (recyclesSessions) recycleSessions(pool)
  const stores: PostgresAdapter[] = []
  return {
    url: location.href,
    pool,
    stores,
    schemas: new SpareSchemas(pool),
    async drop() {
      await Promise.all(stores.map((store) => store.close()))
      await pool.end()
      await dropDatabase(serverUrl, name)
    },
  }
}

const OBJECT_IN_USE = '55006'

/**
 * Without force first: the server then waits up to 5 s for sessions that are closing. A pool has ended before the last of them is gone, and one that
 * is terminated meanwhile emits an error that nobody listens for. With force for what a test left open on purpose.
 */
async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  try {
    await administer(serverUrl, `drop database ${name}`)
  } catch (error) {
    if ((error as { code?: string }).code !== OBJECT_IN_USE) throw error
    await administer(serverUrl, `drop database ${name} with (force)`)
  }
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/**
 * An adapter with its own migrated schema: cheaper than a database for each test. What a test or its `beforeEach` makes is closed when the test has
 * finished, and its schema is emptied for another.
 */
export async function createStore(
  database: TestDatabase,
  options: PostgresOptions = {},
): Promise<PostgresAdapter> {
  const { schemas } = database
  const { schema, isMigrated } =
    options.schema === undefined ? await schemas.take() : { schema: options.schema, isMigrated: false }
  const adapter = postgres(database.pool, { ...options, schema })
  database.stores.push(adapter)
  if (!isMigrated) {
    await adapter.migrate()
    if (options.schema === undefined) await schemas.remember(schema)
  }
  await adapter.open()
  if (options.schema === undefined && TestRunner.getCurrentTest() !== undefined) {
    onTestFinished(async () => {
      await adapter.close()
      await schemas.giveBack(schema)
    })
  }
  return adapter
}
