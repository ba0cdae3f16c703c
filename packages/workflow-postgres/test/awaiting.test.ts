import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

// So long that no look of a tick can be what finds an end before the test fails.
const TICK = '1m'
const LIMIT_MS = 30_000

function named(url: string): string {
  const waiting = new URL(url)
  waiting.searchParams.set('application_name', 'waiter')
  return waiting.href
}

describe.each(servers)(
  'awaiting a run that another process executes on $name',
  { timeout: LIMIT_MS },
  ({ url }) => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await createDatabase(url)
      await migrate(database.url)
    })
    afterAll(() => database.drop())

    /** What is told on the channel, without the name of who tells it. */
    async function overheard(): Promise<readonly string[]> {
      const told: string[] = []
      const client = new pg.Client(database.url)
      await client.connect()
      onTestFinished(() => client.end())
      client.on('notification', ({ payload }) => told.push(payload!.replace(/^(\w+) \w{8} /, '$1 ')))
      await client.query('listen "belay:belay"')
      return told
    }

    async function world() {
      const flow = define('flow', { version: 1 })
        .waitForSignal('go')
        .step('end', { dependsOn: ['go'], run: () => 'ended' })
      const worker = createEngine({ adapter: postgres(database.url), workflows: [flow], tick: '50ms' })
      await worker.start()
      const waiter = createEngine({ adapter: postgres(named(database.url)), tick: TICK })
      onTestFinished(async () => void (await Promise.all([worker.close(), waiter.close()])))
      return { flow, worker, waiter, told: await overheard() }
    }

    /** Until the waiter listens. */
    const listening = () =>
      vi.waitFor(async () => {
        const { rows } = await database.pool.query(
          `select from pg_stat_activity where application_name = 'waiter' and query like 'listen%' and state = 'idle'`,
        )
        expect(rows).toHaveLength(1)
      }, LIMIT_MS)

    it('is told of its end, without asking again', async () => {
      const { flow, worker, waiter, told } = await world()
      const run = await worker.run(flow)

      const result = waiter.runs.handle(run.id).result()
      await vi.waitFor(() => expect(told).toContain(`awaited ${run.id}`), LIMIT_MS)
      await listening()
      await run.signal('go', null)

      expect(await result).toEqual({ go: null, end: 'ended' })
      expect(told).toContain(`ended ${run.id}`)
    })

    it('is told of a failure as well', async () => {
      const { flow, worker, waiter, told } = await world()
      const run = await worker.run(flow)

      const result = waiter.runs
        .handle(run.id)
        .result()
        .catch((error: unknown) => error)
      await vi.waitFor(() => expect(told).toContain(`awaited ${run.id}`), LIMIT_MS)
      await listening()
      await run.cancel()

      expect(await result).toMatchObject({ code: 'run_failed', status: 'cancelled' })
    })

    it('costs runs that nobody awaits no notification, nor those that only their own process awaits', async () => {
      const { flow, worker, told } = await world()
      const runs = [await worker.run(flow), await worker.run(flow)]
      const result = runs[0]!.result()
      for (const run of runs) await run.signal('go', null)
      await result
      await vi.waitFor(async () => expect((await runs[1]!.status()).status).toBe('completed'), LIMIT_MS)

      expect(told.filter((payload) => payload.startsWith('ended'))).toEqual([])
    })

    it('finds the end by asking, if nothing is told: the application’s Pool cannot spare a connection', async () => {
      const { flow, worker } = await world()
      const pool = new pg.Pool({ connectionString: database.url, max: 2 })
      const waiter = createEngine({ adapter: postgres(pool), tick: '20ms' })
      onTestFinished(() => waiter.close().then(() => pool.end()))
      const run = await worker.run(flow)
      const result = waiter.runs.handle(run.id).result()
      // Both connections stay the application's.
      const clients = [await pool.connect(), await pool.connect()]
      for (const client of clients) client.release()
      await run.signal('go', null)

      expect(await result).toEqual({ go: null, end: 'ended' })
    })
  },
)
