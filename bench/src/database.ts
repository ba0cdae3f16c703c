import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Creates a database on the server of `url` for `work`, and drops it afterwards. */
export async function withFreshDatabase<T>(url: string, work: (url: string) => Promise<T>): Promise<T> {
  const fresh = await createDatabase(url)
  try {
    return await work(fresh)
  } finally {
    await dropDatabase(url, fresh)
  }
}

/** Creates a database on the server of `url`, and returns its url. */
export async function createDatabase(url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`
  await execute(url, `create database ${name} template template0`)
  const fresh = new URL(url)
  fresh.pathname = name
  return fresh.href
}

export async function dropDatabase(url: string, fresh: string): Promise<void> {
  await execute(url, `drop database ${databaseOf(fresh)} with (force)`)
}

/** Opens a connection for `work`, and closes it afterwards. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  // If the server goes away, the query that needs it fails.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export function execute(url: string, sql: string): Promise<unknown> {
  return withClient(url, (client) => client.query(sql))
}

/** The name of a url's database. */
export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1))
}
