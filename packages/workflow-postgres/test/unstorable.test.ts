import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

/** Nested too deeply for the server's JSON parser, but not for this process to write. */
function deeplyNested(): unknown {
  let value: unknown = 0
  for (let depth = 0; depth < DEPTH; depth += 1) value = [value]
  return value
}

const DEPTH = 3_000

/** For new sessions. */
async function lowerStackDepth({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`alter database ${new URL(url).pathname.slice(1)} set max_stack_depth = '100kB'`)
  await client.end()
}

describe.each(servers)('an output that only the database refuses, on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    await lowerStackDepth(database)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  it('fails its step, which is undone without an output; the others of its batch complete', async () => {
    const refunds: unknown[] = []
    const workflow = define('refused', { version: 1 }).step('charge', {
      run: ({ input }): unknown => (input === 'deep' ? deeplyNested() : 'flat'),
      compensate: ({ output, error }) => {
        refunds.push({ output, error: error?.message })
      },
    })
    const engine = createEngine({ adapter: store, workflows: [workflow] })
    await engine.start()

    const runs = await engine.runMany(
      workflow,
      ['flat', 'deep', 'flat'].map((input) => ({ input })),
    )
    await Promise.all(runs.map((run) => run.result().catch(() => {})))

    const ended = await Promise.all(runs.map(async (run) => (await run.status()).status))
    expect(ended).toEqual(['completed', 'compensated', 'completed'])
    expect(refunds).toEqual([
      { output: undefined, error: expect.stringMatching(/cannot be stored: stack depth/) },
    ])
    await engine.stop()
  })
})
