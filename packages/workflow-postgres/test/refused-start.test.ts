import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

describe.each(servers)('a start that the database refuses, on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  it('says that nothing was started, why, and what to do', async () => {
    const [definition] = await store.saveDefinitions([chain.record])
    const run = (input: string) => ({
      runId: randomUUID(),
      definitionId: definition!.id,
      workflow: 'chain',
      key: null,
      input,
    })

    await expect(store.startRuns([run('{')])).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(
        /^Run \S+ of workflow "chain" was not started: the store refused its input or key: .*\. Give a value/,
      ),
    })
    await expect(store.startRuns([run('1'), run('{')])).rejects.toThrow(
      /^None of 2 runs was started: the store refused an input or key of one of them: /,
    )
    expect(await store.listRuns({ limit: 10 })).toEqual([])
  })
})
