import { randomUUID } from 'node:crypto'
import { createEngine, define } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresAdapter, postgresTransaction } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

const WITHIN = { timeout: 20_000 }
const VIOLATION = { code: '23514', constraint: 'refused_by_test' }

// A violation of a constraint of Belay's own tables is a defect of Belay, never a fault of the user's value.
describe.each(servers)('a constraint of Belay’s tables that refuses a write, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('is reported with its run and step, holds up no other run, and is over once the constraint allows it', async () => {
    const { store, refuse } = await refusing(database)
    const allow = await refuse('workflow_steps', `status <> 'completed' or output::text <> '"bad"'`)
    const calls: unknown[] = []
    const workflow = define('refused', { version: 1 }).step('charge', {
      run: ({ input }) => {
        calls.push(input)
        return input as string
      },
    })
    const logged: unknown[] = []
    const log = (message: string, fields?: object) => logged.push({ message, ...fields })
    const engine = createEngine({
      adapter: store,
      workflows: [workflow],
      lease: '1s',
      logger: { debug() {}, info() {}, warn() {}, error: log },
    })
    onTestFinished(() => engine.close({ timeout: 0 }))
    const errors: unknown[] = []
    engine.on('error', ({ error }) => errors.push(error))
    await engine.start()

    const runs = await engine.runMany(
      workflow,
      ['good', 'bad', 'good'].map((input) => ({ input })),
    )
    expect(await Promise.all([runs[0]!.result(), runs[2]!.result()])).toHaveLength(2)
    await expect.poll(() => errors, WITHIN).toContainEqual(expect.objectContaining(VIOLATION))
    expect(logged).toContainEqual({
      message: expect.stringMatching(/fails again and again, while it succeeds for others/),
      ...{ during: 'settling', runId: runs[1]!.id, step: 'charge' },
      error: expect.objectContaining(VIOLATION),
    })
    expect((await engine.doctor()).findings).toContainEqual(
      expect.objectContaining({ type: 'refused_by_store', runId: runs[1]!.id, step: 'charge' }),
    )

    await allow()
    expect(await runs[1]!.result()).toEqual({ charge: 'bad' })
    expect(calls).toHaveLength(3)
    expect((await engine.doctor()).findings).toEqual([])
  })

  it('does not blame the input or the payload when a run is started or a signal is sent', async () => {
    const { store, refuse } = await refusing(database)
    const [definition] = await store.saveDefinitions([chain.record])
    const run = (runId: string, key: string) => {
      return { runId, definitionId: definition!.id, workflow: 'chain', key, input: '1' }
    }
    const runId = randomUUID()
    await store.startRuns([run(runId, 'before')])
    await refuse('workflow_runs', `key <> 'bad'`)
    await refuse('workflow_signals', `key <> 'bad'`)

    await expect(store.startRuns([run(randomUUID(), 'bad')])).rejects.toMatchObject(VIOLATION)
    const signal = { runId, definitionId: definition!.id, step: 0, key: 'bad', actor: null, payload: '1' }
    await expect(store.deliverSignals([signal])).rejects.toMatchObject(VIOLATION)
  })

  it('fails a transactional step with the constraint’s name, and without an effect', async () => {
    const { store, refuse } = await refusing(database)
    await refuse('workflow_steps', `status <> 'completed'`)
    await database.pool.query('create table effects (id int)')
    const workflow = define('transactional', { version: 1 }).step('write', {
      transaction: postgresTransaction(),
      retry: false,
      run: async ({ tx }) => {
        await tx.client.query('insert into effects values (1)')
      },
    })
    const engine = createEngine({ adapter: store, workflows: [workflow] })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()

    const run = await engine.run(workflow)
    await run.result().catch(() => {})

    const [step] = (await run.status()).steps
    expect(step).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/refused_by_test/) },
    })
    expect(step!.error!.message).not.toMatch(/cannot be stored/)
    expect((await database.pool.query('select id from effects')).rows).toEqual([])
  })
})

/** A store with additional CHECKs on its tables, as if the code violated the schema. */
async function refusing(database: TestDatabase): Promise<{
  readonly store: PostgresAdapter
  readonly refuse: (table: string, check: string) => Promise<() => Promise<void>>
}> {
  const schema = `belay_${randomUUID().replaceAll('-', '')}`
  const store = await createStore(database, { schema })
  const refuse = async (table: string, check: string) => {
    await database.pool.query(
      `alter table ${schema}.${table} add constraint refused_by_test check (${check}) not valid`,
    )
    return async () => {
      await database.pool.query(`alter table ${schema}.${table} drop constraint refused_by_test`)
    }
  }
  return { store, refuse }
}
