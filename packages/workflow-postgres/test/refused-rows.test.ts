import { randomUUID } from 'node:crypto'
import { createEngine, define, type Engine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { type RowRefusal, refuseRows } from './setup/refusing-rows.ts'

const WITHIN = { timeout: 30_000 }
const OTHERS = 100
/** A right, a value, the disk, memory, a cancelled statement, a defect of the server, a trigger of the user's. */
const CODES = ['42501', '22P05', '53100', '53200', '57014', 'XX000', 'P0001']

const workflow = define('refused', { version: 1 })
  .step('one', { run: () => 1, compensate: () => {} })
  .waitForSignal('go', { dependsOn: ['one'] })
  .step('two', { dependsOn: ['go'], run: ({ publish, deps }) => publish('told', deps.go) })
  .step('end', {
    dependsOn: ['two'],
    retry: false,
    run: ({ deps: _ }) => {
      throw new Error('everything is undone')
    },
  })

describe.each(servers)('a row that the database refuses, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const opened = async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    const store = await createStore(database, { schema })
    const refuse = (refusal: Omit<RowRefusal, 'schema'>) => refuseRows(database.pool, { schema, ...refusal })
    const ofBad = `exists (select from ${schema}.workflow_runs r where r.key = 'bad' and r.id = new.run_id)`
    return { store, schema, refuse, ofBad }
  }

  it.each(CODES)(
    'with %s does not hold up the claims, the waits and the undos of a hundred other runs',
    async (code) => {
      const { store, schema, refuse, ofBad } = await opened()
      const { bad, others } = await started(client(store))
      const accept = await refuse({ table: 'workflow_steps', on: 'update', when: ofBad, code })
      const engine = await worker(store)

      await Promise.all(others.map((run) => run.signal('go', 1)))
      await expect.poll(() => countEnded(engine), WITHIN).toBe(OTHERS)
      expect((await bad.status()).status).toBe('running')
      await expect
        .poll(async () => (await engine.doctor()).findings, WITHIN)
        .toContainEqual(expect.objectContaining({ type: 'refused_by_store', runId: bad.id }))

      await accept()
      await database.pool.query(
        `update ${schema}.workflow_ready set available_at = now() where available_at > now()`,
      )
      await bad.signal('go', 1)
      await expect.poll(() => countEnded(engine), WITHIN).toBe(OTHERS + 1)
    },
  )

  it.each([
    ['completing a step', 'workflow_steps', 'update', `new.status = 'completed' and new.step = 0`],
    ['publishing a value', 'workflow_values', 'insert or update', 'true'],
    ['failing a step', 'workflow_steps', 'update', `new.status = 'failed'`],
    ['beginning an undo', 'workflow_steps', 'update', `new.undo_of is not null`],
    ['completing an undo', 'workflow_steps', 'update', `new.status = 'compensated'`],
  ] as const)(
    'when %s does not hold up a hundred other runs, and is over once it is accepted',
    async (_, table, on, when) => {
      const { store, refuse, ofBad } = await opened()
      const engine = await worker(store)
      const accept = await refuse({ table, on, when: `${when} and ${ofBad}`, code: '42501' })

      const { bad, others } = await started(engine)
      await Promise.all([bad, ...others].map((run) => run.signal('go', 1)))
      await expect.poll(() => countEnded(engine), WITHIN).toBe(OTHERS)
      await expect
        .poll(async () => (await engine.doctor()).findings, WITHIN)
        .toContainEqual(
          expect.objectContaining({
            type: 'refused_by_store',
            runId: bad.id,
            message: expect.stringMatching(/refused by a test/),
          }),
        )

      await accept()
      await expect.poll(() => countEnded(engine), { timeout: 90_000 }).toBe(OTHERS + 1)
      expect(await bad.status()).toMatchObject({ status: 'compensated' })
    },
  )

  it.each(CODES)('with %s does not hold up a hundred starts, and rejects its own', async (code) => {
    const { store, refuse } = await opened()
    await refuse({ table: 'workflow_runs', on: 'insert', when: `new.key = 'bad'`, code })
    const engine = client(store)

    const starts = keys().map((key) => engine.run(workflow, undefined, { key }))
    const ended = await Promise.allSettled(starts)

    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(OTHERS)
    expect(ended[OTHERS / 2]).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/refused by a test/) },
    })
  })

  it('does not hold up the steps of a dead worker, and deadlines', async () => {
    const { store, schema, refuse, ofBad } = await opened()
    const runs = await client(store).runMany(
      hanging,
      keys().map((key) => ({ key, deadline: '1h' })),
    )
    const bad = runs[OTHERS / 2]!.id
    const workerId = randomUUID()
    const definitionIds = (await store.saveDefinitions([hanging.record])).map(({ id }) => id)
    await store.registerWorker({ workerId, name: 'dies', leaseMs: 1 })
    await store.claim({ workerId, definitionIds, limit: 500 })
    expect(await countRows(schema, `s.status = 'running'`)).toBe(OTHERS + 1)
    await refuse({ table: 'workflow_steps', on: 'update', when: ofBad, code: '42501' })
    const engine = await worker(store)

    await expect.poll(() => countRows(schema, `s.losses = 1`), WITHIN).toBe(OTHERS)
    await database.pool.query(`update ${schema}.workflow_runs set deadline_at = now() - interval '1 second'`)
    await expect.poll(() => countRows(schema, `s.status = 'cancelled'`), WITHIN).toBe(OTHERS)
    await expect
      .poll(async () => (await engine.doctor()).findings, WITHIN)
      .toContainEqual(expect.objectContaining({ type: 'refused_by_store', runId: bad }))
  })

  const countRows = async (schema: string, where: string) => {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from ${schema}.workflow_steps s where ${where}`,
    )
    return rows[0].count as number
  }
})

const hanging = define('hanging', { version: 1 }).step('hang', { run: () => 1 })

/** The bad one stands in the middle. */
function keys(): readonly string[] {
  return Array.from({ length: OTHERS + 1 }, (_, at) => (at === OTHERS / 2 ? 'bad' : `good ${at}`))
}

async function started(engine: Engine) {
  const runs = await engine.runMany(
    workflow,
    keys().map((key) => ({ key })),
  )
  return { bad: runs[OTHERS / 2]!, others: runs.filter((_, at) => at !== OTHERS / 2) }
}

async function countEnded(engine: Engine): Promise<number> {
  return (await engine.runs.count({ status: 'compensated' })).count
}

function client(adapter: PostgresAdapter): Engine {
  return createEngine({ adapter, workflows: [workflow, hanging] })
}

async function worker(adapter: PostgresAdapter): Promise<Engine> {
  const engine = createEngine({ adapter, workflows: [workflow], tick: '20ms' })
  onTestFinished(() => engine.close({ timeout: 0 }))
  await engine.start()
  return engine
}
