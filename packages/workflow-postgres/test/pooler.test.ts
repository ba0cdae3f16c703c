import { randomUUID } from 'node:crypto'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type PostgresAdapter, postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'
import { pgbouncerBinary, startPgbouncer } from './setup/pgbouncer.ts'

const workflow = define('pooled', { version: 1 })
  .step('plain', { run: () => 1 })
  .step('transactional', {
    dependsOn: ['plain'],
    transaction: postgresTransaction(),
    run: async ({ tx, deps }) => {
      const { rows } = await tx.client.query('select $1::int + 1 as sum', [deps.plain])
      return rows[0].sum as number
    },
  })

const SETTINGS: Readonly<Record<string, string>> = {
  enable_seqscan: 'on',
  enable_hashjoin: 'on',
  plan_cache_mode: 'auto',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'off',
}

describe.skipIf(pgbouncerBinary === undefined).each(['transaction', 'session'] as const)(
  'behind PgBouncer in %s mode (skipped without it: apt-get install pgbouncer, or set BELAY_PGBOUNCER)',
  (poolMode) => {
    let database: TestDatabase
    let bouncer: Awaited<ReturnType<typeof startPgbouncer>>
    beforeAll(async () => {
      database = await createDatabase(servers[0]!.url)
      bouncer = await startPgbouncer(database.url, poolMode)
      const direct = postgres(database.url, { autoMigrate: true })
      await direct.open()
      await direct.close()
    })
    afterAll(async () => {
      await bouncer.stop()
      await database.drop()
    })

    const worker = async (adapter: PostgresAdapter) => {
      const engine = createEngine({ adapter, workflows: [workflow], tick: '50ms' })
      onTestFinished(() => engine.close())
      await engine.start()
      return engine
    }

    /** The settings that another application sees, in every session of the pooler. */
    async function othersSee() {
      const clients = Array.from({ length: 6 }, () => new pg.Client({ connectionString: bouncer.url }))
      await Promise.all(clients.map((client) => client.connect()))
      // Each keeps its session, so they are different sessions.
      await Promise.all(clients.map((client) => client.query('begin')))
      const read = async (client: pg.Client) => {
        const seen: Record<string, string> = {}
        for (const name of Object.keys(SETTINGS))
          seen[name] = (await client.query(`show ${name}`)).rows[0][name]
        const prepared = await client.query(
          `select name from pg_prepared_statements where name like 'belay%'`,
        )
        const channels = await client.query('select pg_listening_channels() as channel')
        return { seen, left: [...prepared.rows, ...channels.rows] }
      }
      const all = await Promise.all(clients.map(read))
      await Promise.all(clients.map((client) => client.end()))
      return all
    }

    it('a worker and a trigger work with default options, and other applications see no changes', async () => {
      const notices: string[] = []
      const adapter = postgres(bouncer.url, { connectionsMax: 3 })
      adapter.onNotice?.(({ code }) => notices.push(code))
      const engine = await worker(adapter)
      const trigger = createEngine({ adapter: postgres(bouncer.url, { connectionsMax: 2 }) })
      onTestFinished(() => trigger.close())

      const runs = await Promise.all(Array.from({ length: 20 }, () => trigger.run(workflow)))
      const results = await Promise.all(runs.map((run) => run.result()))
      const during = await othersSee()
      await Promise.all([engine.close(), trigger.close()])

      expect(results).toEqual(runs.map(() => ({ plain: 1, transactional: 2 })))
      expect(notices).toEqual(['pooler_detected'])
      const untouched = Array.from({ length: 6 }, () => ({ seen: SETTINGS, left: [] }))
      expect(during).toEqual(untouched)
      expect(await othersSee()).toEqual(untouched)
    })

    it('a worker and a trigger also work on a Pool of the application’s', async () => {
      const pool = new pg.Pool({ connectionString: bouncer.url, max: 4 })
      const adapter = postgres(pool)
      onTestFinished(async () => {
        await adapter.close()
        await pool.end()
      })
      const engine = await worker(adapter)

      const runs = await Promise.all(Array.from({ length: 10 }, () => engine.run(workflow)))
      await Promise.all(runs.map((run) => run.result()))
      const during = await othersSee()

      expect(during).toEqual(Array.from({ length: 6 }, () => ({ seen: SETTINGS, left: [] })))
    })

    it('a stuck statement is cancelled in the server, in a session that only the pooler knows', async () => {
      const adapter = postgres(bouncer.url, { connectionsMax: 2, queryTimeoutMs: 300 })
      onTestFinished(() => adapter.close())
      await adapter.open()
      const [definition] = await adapter.saveDefinitions([chain.record])
      const workerId = randomUUID()
      await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 60_000 })
      const holder = await database.pool.connect()
      await holder.query('begin; lock table belay.workflow_ready in access exclusive mode')

      const error = await adapter
        .claim({ workerId, definitionIds: [definition!.id], limit: 1 })
        .catch((failure: unknown) => failure)
      const waiting = () =>
        database.pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        )
      await vi.waitFor(async () => expect((await waiting()).rows).toEqual([]), 5_000)
      await holder.query('rollback')
      holder.release()

      expect(error).toMatchObject({ code: 'store_unavailable' })
      expect(await adapter.now()).toBeGreaterThan(0)
    })
  },
)
