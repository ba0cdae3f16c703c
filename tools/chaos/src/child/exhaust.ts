import type pg from 'pg'
import { pause } from '../pause.ts'

/** Holds this many connections of a pool for a while, like a slow request of the application. */
export async function exhaust(pool: pg.Pool, count: number, ms: number): Promise<void> {
  const end = performance.now() + ms
  const hold = async () => {
    const client = await pool.connect()
    client.on('error', () => {})
    await pause(Math.max(0, end - performance.now()))
    client.release()
  }
  await Promise.allSettled(Array.from({ length: count }, hold))
}
