import { randomBytes, randomUUID } from 'node:crypto'
import { createEngine, define, type Engine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { hideRows, tearValue } from './setup/damaging-rows.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 30_000 }
const OTHERS = 20

const plain = define('plain', { version: 1 })
  .step('one', { run: () => 1 })
  .waitForSignal('go', { dependsOn: ['one'] })

describe.each(servers)('the rows of a run on a page that cannot be read, on $name', ({ url }) => {
  const role = `belay_reader_${randomBytes(6).toString('hex')}`
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query(`create role ${role} login`)
  })
  afterAll(async () => {
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
    await database.drop()
  })

  const opened = async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    await postgres(database.pool, { schema }).migrate()
    await database.pool.query(`
      grant usage on schema ${schema} to ${role};
      grant all on all tables in schema ${schema} to ${role};
      grant all on all sequences in schema ${schema} to ${role}`)
    const store = postgres(database.url.replace('postgres@', `${role}@`), { schema })
    onTestFinished(() => store.close())
    await store.open()
    const engine = (options: Partial<Parameters<typeof createEngine>[0]> = {}) => {
      const made = createEngine({ adapter: store, workflows: [plain], tick: '20ms', lease: '1s', ...options })
      onTestFinished(() => made.close({ timeout: 0 }))
      return made
    }
    const query = (text: string) => database.pool.query(text.replaceAll('belay.', `${schema}.`))
    const hide = (table: string, runId: string) => hideRows(database.pool, { schema, table, runId })
    const tear = (runId: string) =>
      tearValue(database.pool, { schema, table: 'workflow_runs', column: 'input', runId })
    return { store, engine, query, hide, tear }
  }

  it.each(['a journal', 'no journal'])(
    'the other steps of a dead worker with %s return to the queue',
    async (kept) => {
      const { store, engine, query, hide } = await opened()
      const { bad } = await started(engine())
      const workerId = await deadWorker(store)
      if (kept === 'no journal')
        await query('delete from belay.workflow_leases; update belay.workflow_workers set journaled = false')
      await hide('workflow_steps', bad.id)

      const worker = engine()
      await worker.start()

      const lost = `select count(*)::int as lost from belay.workflow_steps where losses = 1`
      await expect.poll(async () => (await query(lost)).rows, WITHIN).toEqual([{ lost: OTHERS }])
      await named(worker, { runId: bad.id, during: 'returning the steps of a dead worker to the queue' })
      const journal = `select run_ids from belay.workflow_leases where worker_id = '${workerId}'`
      const { rows } = await query(journal)
      expect(rows.every(({ run_ids }) => run_ids.includes(bad.id))).toBe(true)
    },
  )

  it.each(['a filter', 'a list'])(
    'actions on many runs, from %s, report that run, and change all others',
    async (from) => {
      const { engine, hide } = await opened()
      const client = engine()
      const { bad, others, runs } = await started(client)
      await hide(from === 'a list' ? 'workflow_runs' : 'workflow_steps', bad.id)
      const otherIds = others.map(({ id }) => id)
      const changed = {
        ...{ matched: OTHERS + 1, changed: OTHERS, more: false },
        refused: [{ runId: bad.id, why: expect.stringMatching(/invalid page in block 7/) }],
      }
      const selection = from === 'a list' ? runs : { workflow: 'plain' }

      const paused = await client.runs.pauseMany(selection)
      const resumed = await client.runs.resumeMany(
        from === 'a list' ? runs : { workflow: 'plain', status: ['paused', 'running'] },
      )
      const cancelled = await client.runs.cancelMany(selection)

      expect(paused).toMatchObject(changed)
      expect(resumed).toMatchObject(changed)
      expect(cancelled).toMatchObject(changed)
      for (const { runIds } of [paused, resumed, cancelled]) expect([...runIds].sort()).toEqual(otherIds)
    },
  )

  it.each(['its input', 'its steps'])(
    'forgotten runs are dropped although of one %s cannot be read',
    async (what) => {
      const { engine, hide, tear } = await opened()
      const { bad, others } = await started(engine())
      if (what === 'its input') await tear(bad.id)
      else await hide('workflow_steps', bad.id)
      const client = engine({ workflows: [], dev: true })

      const dropped = await client.runs.dropForgotten({ workflow: 'plain' })

      expect([...dropped.runIds].sort()).toEqual(others.map(({ id }) => id))
      const why = expect.stringMatching(/invalid page in block 7|chunk number/)
      expect(dropped.refused).toEqual([{ runId: bad.id, why }])
    },
  )

  it('the doctor names the part of its diagnosis that cannot be read, and tells of the others', async () => {
    const { engine, hide } = await opened()
    const client = engine()
    const { bad } = await started(client)
    await hide('workflow_steps', bad.id)

    const { findings } = await client.doctor()

    expect(findings).toContainEqual(
      expect.objectContaining({
        ...{ type: 'refused_by_store', during: 'the diagnosis', name: 'steps that nothing moves' },
        message: expect.stringMatching(/invalid page in block 7/),
      }),
    )
    expect(findings).toContainEqual(expect.objectContaining({ type: 'version_without_worker' }))
  })

  it('an action on many runs ends when run after run is refused', async () => {
    const { engine, query } = await opened()
    const client = engine()
    await started(client)
    await query(`revoke update on belay.workflow_steps from ${role}`)

    await expect(client.runs.pauseMany({ workflow: 'plain' })).rejects.toThrow(/permission denied/)
  })
})

/** The bad one stands in the middle. */
async function started(engine: Engine) {
  const runs = await engine.runMany(
    plain,
    Array.from({ length: OTHERS + 1 }, (_, at) => ({ key: `key ${at}` })),
  )
  const bad = runs[OTHERS / 2]!
  return { runs, bad, others: runs.filter((run) => run !== bad) }
}

/** It has claimed a step of every run. */
async function deadWorker(store: PostgresAdapter): Promise<string> {
  const definitionIds = (await store.saveDefinitions([plain.record])).map(({ id }) => id)
  const workerId = randomUUID()
  await store.registerWorker({ workerId, name: 'dies', leaseMs: 1 })
  await store.claim({ workerId, definitionIds, limit: 100 })
  return workerId
}

/** Until the doctor tells of it. */
async function named(engine: Engine, finding: object): Promise<void> {
  await expect
    .poll(async () => (await engine.doctor()).findings, WITHIN)
    .toContainEqual(expect.objectContaining({ type: 'refused_by_store', ...finding }))
}
