import { createPglite } from '@belay/postgres-server'
import type { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, type PostgresAdapter } from '../src/index.ts'
import { migrateSchema } from '../src/migrate/migrate.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { pgliteConnection } from '../src/pglite/connection.ts'
import { connectionTo } from './setup/connection.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { INDEX, NEWEST, nextMigration } from './setup/next-release.ts'
import { named } from './setup/sessions.ts'

describe.each(servers)('the locks of a migration on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const column = nextMigration(NEWEST + 1, 'ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text;')
  const index = nextMigration(NEWEST + 1, INDEX)

  const migrateTo = (next: typeof column, patience = {}) =>
    migrateSchema(connectionTo(database, store.schema), store.schema, patience, [...MIGRATIONS, next])

  /** A session of somebody else's, in a transaction that has run this text. */
  async function holding(text: string) {
    const { url: location, name } = named(database.url)
    const client = new pg.Client({ connectionString: location })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`begin; ${text}`)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return { name, pid: rows[0]!.pid, letGo: () => client.query('commit') }
  }

  const readingRuns = () => holding(`select count(*) from ${store.schema}.workflow_runs`)

  const hasColumn = async () => {
    const { rows } = await database.pool.query(
      `select from information_schema.columns where table_schema = $1 and column_name = 'region'`,
      [store.schema],
    )
    return rows.length === 1
  }

  const isWaiting = async () => {
    const { rows } = await database.pool.query(
      `select from pg_locks l where not l.granted and l.relation = $1::regclass`,
      [`${store.schema}.workflow_runs`],
    )
    return rows.length > 0
  }

  it('are waited for only briefly, and then again, so that others get on behind a long transaction', async () => {
    store = await createStore(database)
    const reader = await readingRuns()
    const migrating = migrateTo(column, { lockTimeoutMs: 200, lockTriesMax: 100 })
    await expect.poll(isWaiting, { interval: 10, timeout: 10_000 }).toBe(true)

    // Each of these queues behind the migration if it is just waiting.
    const waits: number[] = []
    for (let turn = 0; turn < 10; turn += 1) {
      const begun = performance.now()
      await store.listRuns({ limit: 1 })
      waits.push(performance.now() - begun)
    }
    expect(await hasColumn()).toBe(false)
    expect(Math.max(...waits)).toBeLessThan(5_000)

    await reader.letGo()
    expect(await migrating).toEqual({ applied: [column.tag] })
    expect(await hasColumn()).toBe(true)
  })

  it('are given up after so many tries, with an error that names who holds them', async () => {
    store = await createStore(database)
    const reader = await readingRuns()

    const error: BelayError = await migrateTo(column, { lockTimeoutMs: 100, lockTriesMax: 3 }).then(
      () => expect.fail('was expected to give up'),
      (thrown: BelayError) => thrown,
    )

    expect(error).toMatchObject({ code: 'store_contended' })
    expect(error.message).toContain('waited 3 times for 100 ms')
    expect(error.message).toContain(`process ${reader.pid}`)
    expect(error.message).toContain(reader.name)
    expect(error.message).toMatch(/idle in transaction, in a transaction for \d+ s/)
    expect(await hasColumn()).toBe(false)
    expect(await isWaiting()).toBe(false)
    await reader.letGo()
    expect(await migrateTo(column)).toEqual({ applied: [column.tag] })
  })

  it('are those of migrate() too, whose options say how long and how often', async () => {
    const old = await createDatabase(url)
    for (const { sql } of MIGRATIONS.slice(0, 5)) await old.pool.query(sql)
    const client = await old.pool.connect()
    await client.query('begin; lock table belay.workflow_signals in access share mode')

    const given = migrate(old.url, { lockTimeoutMs: 50, lockTriesMax: 2 })

    await expect(given).rejects.toMatchObject({
      code: 'store_contended',
      message: expect.stringContaining('waited 2 times for 50 ms'),
    })
    await client.query('rollback')
    client.release()
    expect((await migrate(old.url, { lockTimeoutMs: 50, lockTriesMax: 2 })).applied).toHaveLength(
      MIGRATIONS.length - 5,
    )
    await old.drop()
  })

  it('leave no setting behind in the session of a pool', async () => {
    store = await createStore(database)
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    onTestFinished(() => pool.end())
    await pool.query(`set lock_timeout = '7s'; set statement_timeout = '70s'`)
    const over = connectionTo({ pool }, store.schema)

    await migrateSchema(over, store.schema, {}, [...MIGRATIONS, index])

    const { rows } = await pool.query(
      `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
        (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
    )
    expect(rows).toEqual([{ lock: '7s', statement: '70s', locks: 0 }])
  })

  describe('that builds an index beside what goes on', () => {
    const indexes = async () => {
      const { rows } = await database.pool.query<{ valid: boolean }>(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass($1)`,
        [`${store.schema}.workflow_runs_next_idx`],
      )
      return rows
    }

    it('keep nobody from writing, and are taken by one of several processes', async () => {
      store = await createStore(database)
      const writer = await holding(
        `lock table ${store.schema}.workflow_runs in row exclusive mode; select pg_current_xact_id()`,
      )
      const migrating = [migrateTo(index), migrateTo(index), migrateTo(index)]
      await expect.poll(indexes, { timeout: 10_000 }).toEqual([{ valid: false }])

      // A new writer gets on while the index waits for the older one.
      await database.pool.query(
        `begin; lock table ${store.schema}.workflow_runs in row exclusive mode nowait; commit`,
      )
      await writer.letGo()

      const applied = (await Promise.all(migrating)).flatMap((report) => report.applied)
      expect(applied).toEqual([index.tag])
      expect(await indexes()).toEqual([{ valid: true }])
    })

    it('need one session, which a pooler does not give', async () => {
      store = await createStore(database)
      const behindPooler = connectionTo(database, store.schema, true)

      await expect(
        migrateSchema(behindPooler, store.schema, {}, [...MIGRATIONS, index]),
      ).rejects.toMatchObject({
        code: 'store_misconfigured',
        message: expect.stringContaining('direct connection'),
      })
      expect(await indexes()).toEqual([])
    })

    it('leave an index that never became valid, which the next try removes first', async () => {
      store = await createStore(database)
      const writer = await holding(
        `lock table ${store.schema}.workflow_runs in row exclusive mode; select pg_current_xact_id()`,
      )
      const interrupted = migrateTo(index).catch((error: unknown) => error)
      await expect.poll(indexes, { timeout: 10_000 }).toEqual([{ valid: false }])
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where query ilike '%CREATE INDEX CONCURRENTLY%' and query like $1
         and pid <> pg_backend_pid()`,
        [`%${store.schema}%`],
      )
      expect(await interrupted).toBeInstanceOf(Error)
      expect(await indexes()).toEqual([{ valid: false }])
      await writer.letGo()

      expect(await migrateTo(index)).toEqual({ applied: [index.tag] })

      expect(await indexes()).toEqual([{ valid: true }])
    })
  })
})

describe('a migration in PGlite', () => {
  it('runs outside a transaction what must not be part of one', async () => {
    const db = await createPglite()
    onTestFinished(() => db.close())
    const connection = pgliteConnection(() => db, 'belay')
    const later = [nextMigration(NEWEST + 1, INDEX), nextMigration(NEWEST + 2, 'SELECT 1;')]

    const { applied } = await migrateSchema(connection, 'belay', {}, [...MIGRATIONS, ...later])

    expect(applied).toHaveLength(MIGRATIONS.length + 2)
    const { rows } = await db.query(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass('belay.workflow_runs_next_idx')`,
    )
    expect(rows).toEqual([{ valid: true }])
  }, 60_000)
})
