import { randomUUID } from 'node:crypto'
import { createPglite } from '@belay/postgres-server'
import type { BelayError } from '@belay/workflow/adapter'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, type PostgresAdapter, postgres } from '../src/index.ts'
import { migrateSchema } from '../src/migrate/migrate.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { pglite } from '../src/pglite.ts'
import { connectionTo } from './setup/connection.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { NEWEST, nextMigration } from './setup/next-release.ts'

const ADDITIVE = nextMigration(NEWEST + 1, 'ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text;')
const STOPPING = nextMigration(
  NEWEST + 2,
  '-- Stops older code: a column goes.\nALTER TABLE "belay"."workflow_runs" DROP COLUMN "region";',
  NEWEST + 2,
)

describe.each(servers)('a migration that stops older code on $name', ({ url }) => {
  const databases: TestDatabase[] = []
  let database: TestDatabase
  let store: PostgresAdapter
  beforeEach(async () => {
    database = await createDatabase(url)
    databases.push(database)
    store = await createStore(database)
  })
  afterAll(() => Promise.all(databases.map((each) => each.drop())))

  const migrateTo = (next: readonly (typeof ADDITIVE)[], settings = {}) =>
    migrateSchema(connectionTo(database, store.schema), store.schema, settings, [...MIGRATIONS, ...next])

  const refusal = (promise: Promise<unknown>): Promise<BelayError> =>
    promise.then(
      () => expect.fail('was expected to be refused'),
      (error: BelayError) => error,
    )

  const applied = async () => {
    const { rows } = await database.pool.query(`select from ${store.schema}.workflow_migrations`)
    return rows.length
  }

  const register = (name: string, leaseMs = 60_000) => {
    const workerId = randomUUID()
    return store.registerWorker({ workerId, name, leaseMs, host: `host-of-${name}` }).then(() => workerId)
  }

  it('is refused while workers run, with nothing of what is pending applied, and their names', async () => {
    await register('billing-2')
    await register('billing-1')

    const error = await refusal(migrateTo([ADDITIVE, STOPPING]))

    expect(error).toMatchObject({ code: 'workers_running' })
    expect(error.message).toContain(`migration ${STOPPING.tag} stops older code`)
    expect(error.message).toContain('billing-1 on host-of-billing-1, billing-2 on host-of-billing-2.')
    expect(error.message).toMatch(/lease expires, in (59|60) s at most/)
    expect(error.message).toContain('evenIfWorkersRun')
    expect(await applied()).toBe(MIGRATIONS.length)
  })

  it('names only some of many workers', async () => {
    for (let n = 10; n < 23; n += 1) await register(`w${n}`)

    const { message } = await refusal(migrateTo([ADDITIVE, STOPPING]))

    expect(message).toContain('13 workers of older code are running: w10 ')
    expect(message).toContain('w19 on host-of-w19, and 3 more.')
  })

  it('does not wait for workers that have left, or whose lease has expired, or that were declared dead', async () => {
    const left = await register('left')
    await store.deregisterWorker({ workerId: left })
    for (const name of ['expired', 'dead']) await register(name)
    await database.pool.query(
      `update ${store.schema}.workflow_workers set lease_expires_at = now() - interval '1 ms' where name = 'expired'`,
    )
    await database.pool.query(
      `update ${store.schema}.workflow_workers set status = 'dead' where name = 'dead'`,
    )

    expect((await migrateTo([ADDITIVE, STOPPING])).applied).toHaveLength(2)
  })

  it('is applied while workers run when somebody says so', async () => {
    await register('w')

    expect((await migrateTo([ADDITIVE, STOPPING], { evenIfWorkersRun: true })).applied).toHaveLength(2)
  })

  it('alone is refused: what stops nobody is applied while workers run', async () => {
    await register('w')

    expect(await migrateTo([ADDITIVE])).toEqual({ applied: [ADDITIVE.tag] })
  })

  it('is refused by migrate() and by autoMigrate, on every older schema that knows workers', async () => {
    for (const known of [2, 5]) {
      const old = await createDatabase(url)
      databases.push(old)
      for (const { sql } of MIGRATIONS.slice(0, known)) await old.pool.query(sql)
      await old.pool.query(
        `insert into belay.workflow_workers (id, name, status, lease_expires_at, started_at)
         values ('${randomUUID()}', 'old', 'live', now() + interval '1 minute', now())`,
      )
      const starting = postgres(old.url, { autoMigrate: true })
      onTestFinished(() => starting.close())

      for (const attempt of [() => migrate(old.url), () => starting.open()]) {
        const error = await refusal(attempt())
        expect(error).toMatchObject({ code: 'workers_running' })
        expect(error.message).toContain('a worker of older code is running: old.')
      }
      expect((await migrate(old.url, { evenIfWorkersRun: true })).applied).toHaveLength(
        MIGRATIONS.length - known,
      )
      await starting.open()
    }
  })
})

describe('a migration that stops older code in PGlite', () => {
  it('is applied though a killed process has left its worker: no other process can have the database', async () => {
    const db = await createPglite()
    for (const { sql } of MIGRATIONS.slice(0, 5)) await db.exec(sql)
    await db.query(
      `insert into belay.workflow_workers (id, name, status, lease_expires_at, started_at)
       values ('${randomUUID()}', 'killed', 'live', now() + interval '1 minute', now())`,
    )
    const adapter = pglite(db)
    onTestFinished(async () => {
      await adapter.close()
      await db.close()
    })

    await adapter.open()

    expect(await adapter.migrate()).toEqual({ applied: [] })
  }, 60_000)
})
