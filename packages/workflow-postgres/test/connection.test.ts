import { randomUUID } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { startPostgres } from '@belay/postgres-server'
import { BelayError, StoreUnavailableError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

const [server] = servers

describe('connecting', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
  })
  afterAll(() => database.drop())

  const failureOf = async (connect: () => unknown): Promise<BelayError> => {
    try {
      await connect()
    } catch (error) {
      if (BelayError.is(error)) return error
      throw error
    }
    return expect.fail('was expected to fail')
  }

  /** Opens an adapter on a variation of the database's url. */
  const openWith = (change: (url: URL) => void) => async () => {
    const url = new URL(database.url)
    change(url)
    const adapter = postgres(url.href)
    await adapter.open().finally(() => adapter.close())
  }

  it('without a url asks whether it is set', async () => {
    for (const missing of [undefined, '']) {
      const error = await failureOf(() => postgres(missing))
      expect(error).toMatchObject({ code: 'store_misconfigured' })
      expect(error.message).toContain('environment variable')
    }
  })

  it('with what is no url says so, and keeps the password to itself', async () => {
    for (const url of [
      'mysql://u:secret@host/db',
      'just text secret',
      'postgres://u:secret@host:notaport/db',
    ]) {
      const error = await failureOf(() => postgres(url))
      expect(error).toMatchObject({ code: 'store_misconfigured' })
      expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('secret')
    }
  })

  it('to a database that is not there names it, and how to make it', async () => {
    const error = await failureOf(openWith((url) => (url.pathname = '/nowhere')))
    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toMatch(/"nowhere" at .+:\d+.*createdb nowhere/)
  })

  it('to a host that does not exist names it', async () => {
    const error = await failureOf(openWith((url) => (url.hostname = 'no-such-host.invalid')))
    // A resolver that is out of reach itself says "try again".
    expect(['store_misconfigured', 'store_unavailable']).toContain(error.code)
    expect(error.message).toContain('no-such-host.invalid')
  })

  it('to a port where nobody listens is a matter of time', async () => {
    const error = await failureOf(openWith((url) => (url.port = '1')))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error.message).toMatch(/:1: .*ECONNREFUSED/)
  })

  it('as a user that does not exist names the user, and not the password', async () => {
    const error = await failureOf(
      openWith((url) => {
        url.username = 'nobody_here'
        url.password = 'secret'
      }),
    )
    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain('nobody_here')
    expect(JSON.stringify([error.message, error.stack])).not.toContain('secret')
  })

  it('as a user without the rights says which to grant', async () => {
    const store = await createStore(database)
    const role = `limited_${randomUUID().slice(0, 8)}`
    await database.pool.query(`create role ${role} login password 'secret'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'secret'
    const adapter = postgres(url.href, { schema: store.schema })

    const error = await failureOf(() => adapter.open())

    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain(`Grant user "${role}"`)
    await adapter.close()
    await database.pool.query(`drop role ${role}`)
  })

  it('leaves the data errors of a statement as they are', async () => {
    const store = await createStore(database)
    const payload = { runId: 'not-a-uuid', steps: [] }
    await expect(store.load([payload])).rejects.toMatchObject({ code: '22P02' })
  })
})

describe('options', () => {
  const URL = 'postgres://localhost/db'
  const invalid = (options: object) => {
    try {
      postgres(URL, options)
    } catch (error) {
      return error as BelayError
    }
    return expect.fail('was expected to be refused')
  }

  it('that do not exist are refused with the nearest that does', () => {
    const error = invalid({ automigrate: true })
    expect(error).toMatchObject({ code: 'invalid_option' })
    expect(error.message).toContain('Did you mean "autoMigrate"?')
    expect(invalid({ colour: 'red' }).message).toContain('It has: schema, autoMigrate')
  })

  it('that do not fit are refused with what does', () => {
    expect(invalid({ connectionsMax: 0 }).message).toMatch(/"connectionsMax".* 0\..*1 to 1000/)
    expect(invalid({ prepare: 'yes' }).message).toMatch(/"prepare".*"yes".*true or false/)
    expect(invalid({ queryTimeoutMs: 1.5 }).message).toContain('queryTimeoutMs')
  })

  it('accept no schema name that Postgres would change or refuse', () => {
    for (const schema of ['', 'pg_temp', 'a"b', 'a.b', '1st', 'x'.repeat(64)]) {
      expect(invalid({ schema })).toMatchObject({ code: 'invalid_option' })
    }
  })
})

describe('the pool', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
  })
  afterAll(() => database.drop())

  it('of the application is used, shown and left open', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    const adapter = postgres(pool, { schema: 'given', autoMigrate: true })
    await adapter.open()
    // A listener must not take the only connection there is.
    const stop = adapter.onWake(() => {})

    expect(adapter.pool).toBe(pool)
    expect(await adapter.now()).toBeGreaterThan(0)
    stop()
    await adapter.close()
    await adapter.close()

    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await expect(adapter.now()).rejects.toMatchObject({ code: 'engine_closed' })
    await pool.end()
  })

  it('serves adapters with different schemas, which see nothing of each other', async () => {
    const [one, two] = [await createStore(database), await createStore(database)]
    const [definition] = await one.saveDefinitions([chain.record])
    const runId = randomUUID()
    const run = { runId, definitionId: definition!.id, workflow: 'chain', key: null, input: null }
    await one.startRuns([run])

    expect(await two.listRuns({ limit: 10 })).toEqual([])
    await expect(two.startRuns([run])).rejects.toMatchObject({ code: 'unknown_workflow' })
    expect(await one.listRuns({ limit: 10 })).toMatchObject([{ runId }])
  })

  it('works without prepared statements, as poolers in transaction mode need', async () => {
    await migrate(database.url, { schema: 'pooled' })
    const adapter = postgres(database.url, { schema: 'pooled', prepare: false })
    await adapter.open()

    await chain.runThrough(adapter)

    const { rows } = await adapter.pool.query('select count(*)::int as count from pg_prepared_statements')
    expect(rows).toEqual([{ count: 0 }])
    await adapter.close()
  })

  it('is not disturbed by what an application does to pg’s type parsers', async () => {
    const original = pg.types.getTypeParser(23)
    pg.types.setTypeParser(23, (text) => `int ${text}`)
    try {
      await chain.runThrough(await createStore(database))
    } finally {
      pg.types.setTypeParser(23, original)
    }
  })

  it('repeats what the database gave up for a deadlock', async () => {
    const store = await createStore(database)
    const query = vi.spyOn(pg.Pool.prototype, 'query')
    query.mockImplementationOnce(() =>
      Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' })),
    )
    expect(await store.now()).toBeGreaterThan(0)
    expect(query).toHaveBeenCalledTimes(2)
    query.mockRestore()
  })
})

describe('wake-ups', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  it('go on after the listening connection was cut, and one is sent for what was missed', async () => {
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
    const query = vi.spyOn(adapter.pool, 'query')
    for (let call = 0; call < 1_000; call += 1) adapter.wake()
    expect(query).toHaveBeenCalledTimes(1)
    await adapter.close()
    expect(() => adapter.wake()).not.toThrow()
  })
})

describe.skipIf(process.env['DATABASE_URL'] !== undefined)(
  'a server (skipped on a given server: it is not ours to stop)',
  () => {
    it('that restarts is survived, by pools and listeners', async () => {
      const own = await startPostgres({ major: 18 })
      const adapter = postgres(own.url, { autoMigrate: true })
      const pool = new pg.Pool({ connectionString: own.url })
      const onGivenPool = postgres(pool)
      await adapter.open()
      await onGivenPool.open()
      let woken = 0
      adapter.onWake(() => {
        woken += 1
      })
      await chain.runThrough(adapter)

      await own.restart()

      // Whichever statement meets a connection that was cut is told so; the next ones work again.
      for (const each of [adapter, onGivenPool]) {
        await vi.waitFor(
          () =>
            each.now().catch((error: unknown) => {
              expect(error).toBeInstanceOf(StoreUnavailableError)
              throw error
            }),
          5_000,
        )
      }
      await chain.runThrough(adapter)
      await vi.waitFor(() => expect(woken).toBeGreaterThan(0), 10_000)
      await Promise.all([adapter.close(), onGivenPool.close()])
      await pool.end()
      await own.stop()
    })
  },
)

describe('a connection that died without a word', () => {
  /** Passes everything on until told to swallow it, as a firewall does. */
  async function halfOpenProxy(target: URL): Promise<{ port: number; swallow(): void; server: Server }> {
    const { connect } = await import('node:net')
    let swallowing = false
    const sockets = new Set<Socket>()
    const proxy = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname)
      sockets.add(client).add(upstream)
      client.on('data', (bytes) => swallowing || upstream.write(bytes))
      upstream.on('data', (bytes) => swallowing || client.write(bytes))
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => {})
        one.on('close', () => other.destroy())
      }
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as { port: number }
    return {
      port,
      swallow() {
        swallowing = true
      },
      server: proxy,
    }
  }

  it('fails its statement after the time a statement may take, instead of never', async () => {
    const database = await createDatabase(server!.url)
    const proxy = await halfOpenProxy(new URL(database.url))
    const url = new URL(database.url)
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    const adapter = postgres(url.href, { autoMigrate: true, queryTimeoutMs: 150, listen: false })
    await adapter.open()

    proxy.swallow()

    await expect(adapter.now()).rejects.toBeInstanceOf(StoreUnavailableError)
    await adapter.close()
    proxy.server.close()
    await database.drop()
  })
})
