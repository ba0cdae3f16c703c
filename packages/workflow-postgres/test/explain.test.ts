import { createEngine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { explainedRun, told } from '../../testing/test/engine/explained-run.ts'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

describe.each(servers)('explaining a run with maps, loops and children on $name', ({ url }) => {
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

  it('names the item, the round and the child that is waited for', async () => {
    const { workflow, child, open, explained } = explainedRun()
    const adapter = postgres(database.url, { schema: store.schema })
    const engine = createEngine({ adapter, workflows: [workflow, child], tick: '50ms' })
    await engine.start()
    const run = await engine.run(workflow, undefined)

    await vi.waitFor(async () => expect(told(await run.explain())).toEqual(explained), { timeout: 20_000 })

    const [shipped] = await engine.runs.list({ parentId: run.id })
    const facts = (await run.explain()).steps.filter(({ step }) => step === 'ship' || step === 'page[2]')
    expect(facts).toMatchObject([
      {
        step: 'page[2]',
        actions: [
          { verb: 'retryStep', step: 'page[2]' },
          { verb: 'skipStep', step: 'page[2]' },
        ],
      },
      { step: 'ship', childRunId: shipped!.id, actions: [] },
    ])

    open()
    await run.cancel()
    await engine.close()
  })
})
