import { randomUUID } from 'node:crypto'
import { startPostgres } from '@belay/postgres-server'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

const [server] = servers

describe('the pool', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
  })
  afterAll(() => database.drop())

  it('of the application is used, exposed and left open', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    const adapter = postgres(pool, { schema: 'given', autoMigrate: true })
    await adapter.open()
    // A listener must not take the only connection.
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

  it('is not affected by an application’s changes to pg’s type parsers', async () => {
    const original = pg.types.getTypeParser(23)
    pg.types.setTypeParser(23, (text) => `int ${text}`)
    try {
      await chain.runThrough(await createStore(database))
    } finally {
      pg.types.setTypeParser(23, original)
    }
  })

  it('repeats transactions that the database aborted for a deadlock', async () => {
    const store = await createStore(database)
    const query = vi.spyOn(pg.Client.prototype, 'query')
    query.mockImplementationOnce((...[, answer]: unknown[]) => {
      const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
      ;(answer as (error: Error) => void)(deadlock)
    })
    expect(await store.now()).toBeGreaterThan(0)
    expect(query).toHaveBeenCalledTimes(2)
    query.mockRestore()
  })
})

describe.skipIf(process.env['DATABASE_URL'] !== undefined)(
  'a server (skipped on a given server: it is not ours to stop)',
  () => {
    it('that restarts is survived, by pools and listeners', async () => {
      const own = await startPostgres({ major: 18, inMemory: true })
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
      woken = 0

      // A statement on a cut connection fails; the next ones work again.
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
      // A hint sent before the listener is back may go unheard; later hints must not.
      await vi.waitFor(() => {
        adapter.wake()
        expect(woken).toBeGreaterThan(0)
      }, 10_000)
      await Promise.all([adapter.close(), onGivenPool.close()])
      await pool.end()
      await own.stop()
    })
  },
)
