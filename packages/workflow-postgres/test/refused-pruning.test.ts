import { createEngine, define } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 30_000 }
const RUNS = 10
const plain = define('plain', { version: 1 }).step('one', { run: () => 1 })

describe.each(servers)('a run that the database refuses to delete, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** Completed runs, to one of which a table of the application refers. */
  async function given() {
    const adapter = await createStore(database)
    const engine = createEngine({ adapter, workflows: [plain], tick: '20ms' })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    const runs = await engine.runMany(
      plain,
      Array.from({ length: RUNS }, () => ({})),
    )
    await Promise.all(runs.map((run) => run.result()))
    await database.pool.query(
      `create table ${adapter.schema}.notes (run_id uuid references ${adapter.schema}.workflow_runs (id))`,
    )
    const kept = runs[3]!.id
    await database.pool.query(`insert into ${adapter.schema}.notes values ($1)`, [kept])
    return { engine, adapter, kept }
  }

  it.each([
    ['without an archive', undefined],
    ['with an archive', () => {}],
  ])('keeps no other run from being pruned, and prune() says why: %s', async (_, archive) => {
    const { engine, kept } = await given()

    await expect(
      engine.prune({ olderThan: 0, ...(archive === undefined ? {} : { archive }) }),
    ).rejects.toThrow(/notes/)

    expect((await engine.runs.list()).map(({ id }) => id)).toEqual([kept])
  })

  it('is named by doctor() while the retention goes on', async () => {
    const { engine, adapter, kept } = await given()
    await engine.stop()
    const retention = { completed: '1ms', every: '1s' } as const
    const keeper = createEngine({ adapter, workflows: [plain], retention })
    onTestFinished(() => keeper.close({ timeout: 0 }))
    await keeper.start()

    await expect.poll(async () => (await keeper.runs.list()).map(({ id }) => id), WITHIN).toEqual([kept])
    expect((await keeper.doctor()).findings).toContainEqual(
      expect.objectContaining({ type: 'refused_by_store', during: 'pruning', runId: kept }),
    )
  })
})
