import { createEngine, define } from '@belay/workflow'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { acquire } from '../src/postgres/lending.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { swallowingProxy } from './setup/swallowing-proxy.ts'

const QUERY_TIMEOUT_MS = 150
const [server] = servers

/** An application's Pool without any limits. */
function poolOf(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  // Of idle connections; a lent one has no listener.
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return pool
}

const fulfil = define('fulfil', { version: 1 }).waitForSignal('paid')

describe('a connection that died silently', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  it('fails its statement after the statement’s time limit, instead of never', async () => {
    const proxy = await swallowingProxy(new URL(database.url))
    const adapter = postgres(proxy.url, { queryTimeoutMs: QUERY_TIMEOUT_MS, listen: false })
    await adapter.open()

    proxy.swallow()

    await expect(adapter.now()).rejects.toBeInstanceOf(StoreUnavailableError)
    await adapter.close()
  })

  it.each(['run', 'signal'] as const)(
    'under the caller’s transaction fails its %s() in time, stores nothing, and gives back its place in the pool',
    async (verb) => {
      const proxy = await swallowingProxy(new URL(database.url))
      const pool = poolOf(proxy.url, 1)
      const adapter = postgres(database.url, { queryTimeoutMs: QUERY_TIMEOUT_MS })
      const engine = createEngine({ adapter, workflows: [fulfil] })
      onTestFinished(() => engine.close())
      const before = await engine.run(fulfil)
      const client = await pool.connect()
      await client.query('begin')
      // The first call learns about the client; the next one has a statement of its own under way.
      await engine.run(fulfil, undefined, { key: `${verb}-before`, tx: client })

      proxy.swallow()
      const call =
        verb === 'run'
          ? engine.run(fulfil, undefined, { key: 'silent', tx: client })
          : before.signal('paid', null, { tx: client })

      const error = await call.catch((failure: unknown) => failure)
      expect(error).toBeInstanceOf(StoreUnavailableError)
      expect(String(error)).toContain('in the transaction given as tx')
      // As applications do after an error: neither waits, and neither ends the process.
      await expect(client.query('rollback')).rejects.toThrow(/terminated|not queryable/)
      client.release()
      proxy.pass()
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
      expect((await engine.runs.list()).filter(({ key }) => key !== undefined)).toEqual([])
    },
  )

  it('that only looks like one of pg’s fails the call in time as well', async () => {
    const adapter = postgres(database.url, { queryTimeoutMs: QUERY_TIMEOUT_MS })
    const engine = createEngine({ adapter, workflows: [fulfil] })
    onTestFinished(() => engine.close())
    const tx = { query: () => new Promise(() => {}), connectionParameters: {} } as never

    await expect(engine.run(fulfil, undefined, { tx })).rejects.toBeInstanceOf(StoreUnavailableError)
  })

  it('gives back its place in an application’s Pool without a limit, even if the server accepted it and said nothing', async () => {
    const proxy = await swallowingProxy(new URL(database.url))
    const pool = poolOf(proxy.url, 2)
    const { host, port, database: name, user } = new pg.Client(proxy.url)
    const address = { host, port, database: name!, user: user! }
    const take = (limitMs: number) => acquire({ pool, sizeOption: '`max`', address }, limitMs)
    proxy.swallow()

    const waits = await Promise.allSettled([take(100), take(100), take(100)])
    proxy.pass()

    expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(String((waits[0] as PromiseRejectedResult).reason)).toContain(
      '2 got no answer from the server yet',
    )
    // A connection that was being opened at that moment may still break off: then its place is free again, and the next try gets it.
    const took = () => vi.waitFor(() => take(5_000), { timeout: 30_000 })
    const clients = [await took(), await took()]
    for (const client of clients) client.release()
  })

  it('gives back its place even if it was opened for somebody who has given up since', async () => {
    const proxy = await swallowingProxy(new URL(database.url))
    const pool = poolOf(proxy.url, 2)
    const { host, port, database: name, user } = new pg.Client(proxy.url)
    const address = { host, port, database: name!, user: user! }
    const take = (limitMs: number) => acquire({ pool, sizeOption: '`max`', address }, limitMs)
    proxy.swallow()

    // The third waits for a place. It gets that of the first, and gives up before that connection has waited for long.
    const waits = await Promise.allSettled([take(100), take(100), take(200)])
    proxy.pass()

    expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    // A connection that was being opened at that moment may still break off: then its place is free again, and the next try gets it.
    const took = () => vi.waitFor(() => take(5_000), { timeout: 30_000 })
    const clients = [await took(), await took()]
    for (const client of clients) client.release()
  })
})
