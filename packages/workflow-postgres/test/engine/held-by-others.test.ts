import { createEngine, define, type Engine } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type PostgresAdapter, postgres } from '../../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from '../setup/database.ts'

const asking = define('asking', { version: 1 })
  .waitForSignal('answer', { timeout: '500ms', onTimeout: { output: 'none' } })
  .step('end', { dependsOn: ['answer'], run: ({ deps }) => deps.answer })

const plain = define('plain', { version: 1 })
  .step('one', { run: () => 1 })
  .step('two', { dependsOn: ['one'], run: ({ deps }) => deps.one + 1 })

const LEASE_MS = 1_500
const QUERY_MS = 1_000

/** While an application holds locks that the engine needs, nothing else waits. When it releases them, nothing is left behind. */
describe.each(servers)('locks held by applications on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  async function worker(): Promise<Engine> {
    const adapter = postgres(database.url, { schema: store.schema, queryTimeoutMs: QUERY_MS })
    const engine = createEngine({ adapter, workflows: [asking, plain], tick: '50ms', lease: LEASE_MS })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  /** A transaction of the application. */
  async function transaction(): Promise<pg.Client> {
    const client = new pg.Client(database.url)
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.end().catch(() => {}))
    await client.query('begin')
    return client
  }

  /** Asserts that no step is leased, for as long as an unknown lease would need to show. */
  async function expectNothingLeased(): Promise<void> {
    const { rows } = await database.pool.query(
      `select run_id, step, status from ${store.schema}.workflow_steps where status = 'running'`,
    )
    expect(rows).toEqual([])
  }

  it('a signal in an open transaction holds up its own run only, even when the step’s timeout comes due', async () => {
    const engine = await worker()
    const held = await engine.run(asking)
    await vi.waitUntil(async () => (await held.status()).steps[0]?.status === 'waiting', { timeout: 10_000 })
    const tx = await transaction()
    await held.signal('answer', 'yes', { tx })

    // biome-ignore lint/style/noRestrictedGlobals: past the step's timeout, and past a statement's limit in the server.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const others = await engine.runMany(
      plain,
      Array.from({ length: 20 }, () => ({})),
    )
    expect(await Promise.all(others.map((run) => run.result()))).toHaveLength(20)
    await tx.query('commit')

    expect(await held.result()).toMatchObject({ end: 'yes' })
    await expectNothingLeased()
  })

  it('a key taken by an open transaction holds up no other start, and is free once that is rolled back', async () => {
    const engine = await worker()
    const tx = await transaction()
    await engine.run(plain, undefined, { key: 'taken', tx })

    const waiting = engine.run(plain, undefined, { key: 'taken' })
    const others = await Promise.all(
      Array.from({ length: 8 }, (_, n) => engine.run(plain, undefined, { key: `free ${n}` })),
    )
    expect(await Promise.all(others.map((run) => run.result()))).toHaveLength(8)
    // biome-ignore lint/style/noRestrictedGlobals: past a statement's limit in the server.
    await new Promise((resolve) => setTimeout(resolve, QUERY_MS + 500))
    await tx.query('rollback')

    const run = await waiting
    expect(run.created).toBe(true)
    expect(await run.result()).toEqual({ one: 1, two: 2 })
    await expectNothingLeased()
  })

  it('a lock on all tables, as of VACUUM FULL, is waited out, and nothing is leased behind it', async () => {
    const engine = await worker()
    const before = await engine.runMany(
      plain,
      Array.from({ length: 5 }, () => ({})),
    )
    await Promise.all(before.map((run) => run.result()))
    const tx = await transaction()
    await tx.query(
      `lock table ${store.schema}.workflow_steps, ${store.schema}.workflow_runs in access exclusive mode`,
    )
    const starting = Promise.all(Array.from({ length: 5 }, () => engine.run(plain)))
    starting.catch(() => {})
    // biome-ignore lint/style/noRestrictedGlobals: past a statement's limit in the server, several times.
    await new Promise((resolve) => setTimeout(resolve, 3 * QUERY_MS))
    await tx.query('commit')

    const runs = await starting
    expect(await Promise.all(runs.map((run) => run.result()))).toHaveLength(5)
    const { healthy, findings } = await engine.doctor()
    expect({ healthy, findings }).toEqual({ healthy: true, findings: [] })
    await expectNothingLeased()
  })
})
