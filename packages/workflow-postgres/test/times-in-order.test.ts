import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

describe.each(servers)('times of a run on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  it('a join starts, and a run ends, no earlier than the dependency that a later statement settled', async () => {
    const [join, loose] = await store.saveDefinitions([
      definitionOf('join', { a: [], b: [], c: ['a', 'b'] }),
      definitionOf('loose', { a: [], b: [] }),
    ])
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'w', leaseMs: 600_000 })
    const runs = [join!, loose!].map(({ id, name }) => {
      return { runId: randomUUID(), definitionId: id, workflow: name, key: null, input: null }
    })
    await store.startRuns(runs)
    const definitionIds = [join!.id, loose!.id]
    const claimed = await store.claim({ workerId, definitionIds, limit: 10 })
    if (claimed === 'lost') expect.fail('The worker was lost.')
    const settle = (step: number) => {
      const outcomes = claimed.claims.filter((claim) => claim.step === step).map(completed)
      return store.settle({ workerId, outcomes, handBackMax: 10 })
    }

    // The statement that settles b has begun and waits for the row of b, while a is settled.
    const holder = await database.pool.connect()
    await holder.query('begin')
    await holder.query(
      `select from ${store.schema}.workflow_steps where run_id = any ($1::uuid[]) and step = 1 for update`,
      [runs.map(({ runId }) => runId)],
    )
    const older = settle(1)
    const { processID } = holder as unknown as { readonly processID: number }
    await expect
      .poll(async () => {
        const blocked = 'select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))'
        return (await database.pool.query(blocked, [processID])).rows.length
      })
      .toBe(1)
    await settle(0)
    await holder.query('rollback')
    holder.release()
    await older

    const joined = (await store.readRun(runs[0]!.runId))!
    const [a, b, c] = joined.steps
    expect(a!.finishedAt!).toBeGreaterThan(b!.finishedAt!)
    expect(c).toMatchObject({ status: 'running' })
    expect(c!.startedAt!).toBeGreaterThan(a!.finishedAt!)
    const ended = (await store.readRun(runs[1]!.runId))!
    expect(ended.run.finishedAt!).toBeGreaterThan(ended.steps[0]!.finishedAt!)
  })
})
