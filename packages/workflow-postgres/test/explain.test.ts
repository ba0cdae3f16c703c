import { createEngine, define, type Explanation } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

/** Sentences by step, without ids and instants. */
function told({ steps }: Explanation): Record<string, string> {
  const plain = (sentence: string) =>
    sentence.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return Object.fromEntries(steps.map(({ step, sentence }) => [step, plain(sentence)]))
}

const child = define('child', { version: 1 }).waitForSignal('go')

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
    let open = () => {}
    const held = { passed: new Promise<void>((resolve) => (open = resolve)) }
    const workflow = define('parent', { version: 1 })
      .map('send', {
        over: () => ['a', 'b', 'c'],
        itemKey: (item) => item,
        concurrency: 1,
        run: () => held.passed,
      })
      .repeat('page', { run: ({ round }) => round, until: () => false, delay: '1h' })
      .step('copy', {
        run: async ({ progress }) => {
          await progress(3, 10)
          return held.passed
        },
      })
      .workflow('ship', child, { input: () => null })
      .step('end', { dependsOn: ['send', 'page', 'ship'], run: () => 1 })
    const adapter = postgres(database.url, { schema: store.schema })
    const engine = createEngine({ adapter, workflows: [workflow, child], tick: '50ms' })
    await engine.start()
    const run = await engine.run(workflow, undefined)
    const expected = {
      copy: expect.stringContaining(', and has done 3 of 10.'),
      send: '"send" waits for "send[a]" (running), "send[b]" (pending) and "send[c]" (pending).',
      'send[a]': expect.stringMatching(/^"send\[a\]" has been running on worker ID since TIME\.$/),
      'send[b]':
        '"send[b]" waits for its turn: map "send" limits how many of its items are under way at a time.',
      'send[c]':
        '"send[c]" waits for its turn: map "send" limits how many of its items are under way at a time.',
      page: '"page" waits for "page[2]" (ready).',
      'page[2]': '"page[2]" begins at TIME.',
      ship: '"ship" waits for its child, run ID of "child" version 1, which is waiting.',
      end: '"end" waits for "page" (pending), "send" (pending) and "ship" (waiting).',
    }

    await vi.waitFor(async () => expect(told(await run.explain())).toEqual(expected), { timeout: 20_000 })

    open()
    await run.cancel()
    await engine.close()
  })
})
