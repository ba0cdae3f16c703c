import { createPglite } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { pglite } from '../src/pglite.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

/** Tables whose rows a subscriber could not find: the server refuses to change or delete such rows where they are published. */
const NAMELESS = `
select c.relname::text as name from pg_class c
where c.relnamespace = 'belay'::regnamespace and c.relkind in ('r', 'p') and c.relreplident <> 'f'
  and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`

const TABLES = `select count(*)::int as count from pg_class c where c.relnamespace = 'belay'::regnamespace and c.relkind = 'r'`

const workflow = define<{ parts: number[] }>('replicated', { version: 1 })
  .map('part', { over: ({ input }) => input.parts, run: ({ item }) => item })
  .step('first', { priority: 5, retry: { attempts: 2, initial: 1 }, run: ({ attempt }) => once(attempt) })
  .step('last', { dependsOn: ['part', 'first'], run: () => 'done' })

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
