import type { Identity, Store } from '@belay/workflow/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId, STEPS } from '../../../testing/src/conformance/store/scenario.ts'
import type { Connection } from '../../src/connection/connection.ts'
import { postgresStore } from '../../src/postgres/postgres.ts'
import { claim, newMark } from '../../src/statements/claim.ts'
import { connectionTo } from '../setup/connection.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'

const DEFINITION = 7

let database: TestDatabase
let store: Store
let connection: Connection
let worker: Identity
beforeAll(async () => {
  database = await createDatabase(servers[0]!.url)
  store = postgresStore(database.pool, {})
  connection = connectionTo(database, 'belay')
  await store.migrate()
  await store.open()
  worker = await store.register({
    ...{ id: newId(), name: 'w', host: null, leaseMs: 60_000, slots: 10, definitions: [DEFINITION] },
  })
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

it('go on where the last one ended while looks from the first place on are slow, and look from there again', async () => {
  const start = async (priority: number, count: number) => {
    const runs = Array.from({ length: count }, () => ({ id: newId(), key: null, input: '{}', priority }))
    await store.start({ definition: DEFINITION, workflow: 'order', steps: STEPS, runs })
    return runs.map(({ id }) => id)
  }
  const mark = newMark()
  const next = async (max: number) => {
    const request = { definitions: [DEFINITION], max, mailed: 'none' } as const
    return (await claim(connection, worker, request, mark)).runs.map(({ id }) => id)
  }
  const normal = await start(0, 4)

  const first = await next(2)
  mark.until = performance.now() + 60_000
  const [hasty] = await start(1_000, 1)
  const second = await next(1)
  mark.until = 0
  const third = await next(1)
  const fourth = await next(2)

  expect([first, second, third, fourth]).toEqual([normal.slice(0, 2), [normal[2]], [hasty], [normal[3]]])
})
