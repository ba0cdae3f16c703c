import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Gives `work` a database of its own on the server of `url`, and removes it. */
export async function withFreshDatabase<T>(url: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `peer_${randomBytes(6).toString('hex')}`
  await execute(url, `create database ${name} template template0`)
  const fresh = new URL(url)
  fresh.pathname = name
  try {
    return await work(fresh.href)
  } finally {
    await execute(url, `drop database ${name} with (force)`)
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
