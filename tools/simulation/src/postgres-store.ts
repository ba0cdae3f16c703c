import { startPostgres } from '@belay/postgres-server'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { sqlStore } from './sql-store.ts'
import { prepare, type Query } from './statements.ts'
import type { Stores } from './stores.ts'

const SCHEMA = 'simulated'
/** An open transaction holds its row locks in virtual time. A statement that waits for them times out after half of this, in real time. */
const QUERY_TIMEOUT_MS = 400
/** Every process keeps one, and so does every open transaction. */
const CONNECTIONS_MAX = 60

/** Worlds on a PostgreSQL server: a temporary one, or a new database on the given one. */
export async function postgresStores(givenUrl = process.env['DATABASE_URL']): Promise<Stores> {
  const server = givenUrl === undefined ? await startPostgres({ major: 18 }) : undefined
  const database = await ownDatabase(server?.url ?? givenUrl!)
  const pool = new pg.Pool({ connectionString: database.url, max: CONNECTIONS_MAX })
  pool.on('error', () => {})
  // Never waits for a connection that an adapter holds.
  const own = new pg.Pool({ connectionString: database.url, max: 4 })
  own.on('error', () => {})
  const query: Query = async (text, values) => (await own.query(text, values as unknown[])).rows
  await migrated(pool)
  await prepare(query, SCHEMA)
  const adapter = () => postgres(pool, { schema: SCHEMA, listen: false, queryTimeoutMs: QUERY_TIMEOUT_MS })
  return {
    name: 'postgres',
    open: () =>
      sqlStore({
        schema: SCHEMA,
        adapter,
        query,
        singleSession: false,
        queryWithin,
        transaction: transactionIn(pool),
      }),
    async close() {
      await own.end()
      await pool.end()
      await database.drop()
      await server?.stop()
    },
  }
}

async function migrated(pool: pg.Pool): Promise<void> {
  const adapter = postgres(pool, { schema: SCHEMA, listen: false })
  await adapter.migrate()
  await adapter.close()
}

function queryWithin(tx: unknown): Query {
  const client = (tx as { readonly client?: pg.PoolClient }).client ?? (tx as pg.PoolClient)
  return async (text, values) => (await client.query(text, values as unknown[])).rows
}

function transactionIn(pool: pg.Pool) {
  return async <Result>(work: (tx: pg.PoolClient) => Promise<Result>): Promise<Result> => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
}

async function ownDatabase(serverUrl: string) {
  const name = `belay_simulation_${process.pid}_${Date.now()}`
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await administer(`create database ${name} template template0`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database ${name} with (force)`) }
}
