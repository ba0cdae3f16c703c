import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const [server] = servers

describe('wake-ups', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  it('continue after the listening connection was cut, and one is sent for hints that were missed', async () => {
    const adapter = postgres(database.url)
    let calls = 0
    const called = (count: number) => vi.waitFor(() => expect(calls).toBeGreaterThanOrEqual(count), 5_000)
    adapter.onWake(() => {
      calls += 1
    })
    const listeners = `select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%'`
    await vi.waitFor(async () => expect((await database.pool.query(listeners)).rows).toHaveLength(1), 5_000)
    expect(calls).toBe(0)

    await database.pool.query(`select pg_terminate_backend(pid) from (${listeners}) l`)
    await called(1)
    adapter.wake()
    await called(2)

    await adapter.close()
    await vi.waitFor(async () => expect((await database.pool.query(listeners)).rows).toHaveLength(0), 5_000)
  })

  it('are not sent more often than every few milliseconds, and never throw', async () => {
    const adapter = postgres(database.url)
    const connect = vi.spyOn(adapter.pool, 'connect')
    for (let call = 0; call < 1_000; call += 1) adapter.wake()
    expect(connect).toHaveBeenCalledTimes(1)
    await adapter.close()
    expect(() => adapter.wake()).not.toThrow()
  })
})
