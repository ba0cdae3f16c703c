import { createPglite, startPostgres } from '@belay/postgres-server'
import { createEngine, define, unchecked } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

/** Tables whose rows a subscriber could not find: the server refuses to change or delete such rows where they are published. */
const NAMELESS = `
select c.relname::text as name from pg_class c
where c.relnamespace = 'belay'::regnamespace and c.relkind in ('r', 'p') and c.relreplident <> 'f'
  and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`

const TABLES = `select count(*)::int as count from pg_class c where c.relnamespace = 'belay'::regnamespace and c.relkind = 'r'`

const workflow = define('replicated', { version: 1, input: unchecked<{ parts: number[] }>() })
  .map('part', { over: ({ input }) => input.parts, run: ({ item }) => item })
  .step('first', { priority: 5, retry: { attempts: 2, initial: 1 }, run: ({ attempt }) => once(attempt) })
  .step('last', { dependsOn: ['part', 'first'], run: () => 'done' })

const waiting = define('waiting', { version: 1 })
  .waitForSignal('go')
  .step('end', { dependsOn: ['go'], run: () => 'done' })

const WAIT = { timeout: 20_000, interval: 50 }

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function once(attempt: number): number {
  if (attempt === 1) throw new Error('once')
  return attempt
}

describe.each(servers)('logical replication on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('can identify the rows of every table', async () => {
    await createStore(database, { schema: 'belay' })

    expect((await database.pool.query(TABLES)).rows[0].count).toBeGreaterThan(15)
    expect((await database.pool.query(NAMELESS)).rows).toEqual([])
  })

  it('of all tables lets runs with items, priorities and retries end', async () => {
    const adapter = await createStore(database)
    await database.pool.query('create publication everything for all tables')
    onTestFinished(async () => void (await database.pool.query('drop publication everything')))
    const engine = createEngine({ adapter, workflows: [workflow], tick: '20ms' })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()

    const run = await engine.run(workflow, { parts: [1, 2, 3] })

    expect(await run.result()).toMatchObject({ last: 'done' })
    expect(await engine.prune({ olderThan: 0 })).toMatchObject({ pruned: 1 })
  })

  it('that refuses claims is told as a refusal by the server, with its words, until it ends', async () => {
    const adapter = await createStore(database)
    const queue = `${adapter.schema}.workflow_ready`
    await database.pool.query(`alter table ${queue} replica identity nothing;
      create publication queue for table ${queue}`)
    const warnings: string[] = []
    const logger = { ...SILENT, warn: (line: string) => void warnings.push(line) }
    const engine = createEngine({ adapter, workflows: [workflow], tick: '20ms', logger })
    onTestFinished(() => engine.close({ timeout: 0 }))
    const told: string[] = []
    engine.on('store.unavailable', ({ message }) => told.push(message))
    await engine.start()

    const run = await engine.run(workflow, { parts: [] }, { delay: 1 })

    const refused = { type: 'refused_by_store', during: 'claiming', runId: undefined }
    await vi.waitFor(async () => expect((await engine.doctor()).findings).toMatchObject([refused]), WAIT)
    const [finding] = (await engine.doctor()).findings
    expect(finding!.message).toMatch(/refuses each call .* for claiming: .*replica identity.*SQLSTATE 55000/)
    expect(told[0]).toMatch(/^Belay cannot use the database .* The server refused .* SQLSTATE 55000/)
    expect(warnings.join()).toMatch(/The store answers, but refuses this call/)
    expect([...told, ...warnings].join()).not.toMatch(/reach/)

    await database.pool.query('drop publication queue')
    await run.result()
    expect((await engine.doctor()).findings).toEqual([])
  })
})

it('finds every table of a schema in PGlite able to identify its rows', async () => {
  const db = await createPglite()
  onTestFinished(() => db.close())
  await pglite(db).migrate()

  expect((await db.query(NAMELESS)).rows).toEqual([])
})

it('moves runs that wait to another server, as docs/database.md tells', async () => {
  const settings = { wal_level: 'logical' }
  const [old, next] = await Promise.all([
    startPostgres({ inMemory: true, settings }),
    startPostgres({ inMemory: true, settings }),
  ])
  onTestFinished(async () => void (await Promise.all([old.stop(), next.stop()])))
  const [from, to] = [new pg.Pool({ connectionString: old.url }), new pg.Pool({ connectionString: next.url })]
  await Promise.all([migrate(old.url), migrate(next.url)])
  const before = createEngine({ adapter: postgres(old.url), workflows: [waiting], logger: false })
  await before.start()
  const { id } = await before.run(waiting, undefined, { key: 'moved' })
  await from.query('create publication everything for tables in schema belay')
  await to.query('truncate belay.workflow_migrations')
  await to.query(
    `create subscription moving connection 'host=127.0.0.1 port=${old.port} user=postgres dbname=postgres' publication everything`,
  )
  await (await before.run(waiting)).cancel()

  await before.close()
  const { rows } = await from.query('select pg_current_wal_lsn() as at')
  await vi.waitFor(async () => {
    const caughtUp = await from.query(
      `select from pg_stat_replication where application_name = 'moving' and replay_lsn >= $1`,
      [rows[0].at],
    )
    const copied = await to.query(`select from pg_subscription_rel where srsubstate <> 'r'`)
    expect([caughtUp.rowCount, copied.rowCount]).toEqual([1, 0])
  }, WAIT)
  await to.query('drop subscription moving')
  const sequences = await from.query(
    `select format('%I.%I', schemaname, sequencename) as name, last_value from pg_sequences where schemaname = 'belay' and last_value is not null`,
  )
  for (const { name, last_value } of sequences.rows)
    await to.query('select setval($1, $2)', [name, last_value])
  await Promise.all([from.end(), to.end()])

  const after = createEngine({ adapter: postgres(next.url), workflows: [waiting], logger: false })
  onTestFinished(() => after.close({ timeout: 0 }))
  await after.start()
  const run = await after.run(waiting, undefined, { key: 'moved' })
  await run.signal('go')
  expect(run.id).toBe(id)
  expect(await run.result()).toMatchObject({ end: 'done' })
  expect(await migrate(next.url)).toEqual({ applied: [] })
})
