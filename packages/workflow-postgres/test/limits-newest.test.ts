import { randomUUID } from 'node:crypto'
import { createEngine, define, unchecked } from '@belay/workflow'
import type { Claim, Outcome } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

describe.each(servers)('only the newest runs on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  const another = () => postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 4 })

  it('an older run is cancelled or completes, if both happen at once, and the newer one gets the slot', async () => {
    await store.declareLimits([{ name: 'newest', concurrency: 1 }])
    const other = another()
    const ends = new Set<string>()
    for (let round = 0; round < 20; round += 1) {
      const { workerId, definitionId, older, newer } = await twoRuns(`k${round}`)
      const end = completed(older)

      const found = await other.findOlderRuns({ lines: [{ limit: 'newest', key: `k${round}` }], limit: 10 })
      expect(found).toMatchObject([{ runId: older.runId, newerRunId: newer.runId }])
      const cancel = () => other.cancelRuns({ runIds: [older.runId], cause: '{"type":"cancelled"}' })
      const settle = () => store.settle({ workerId, outcomes: [end], handBackMax: 0, frees: [end] })

      // Each is first once, and then they race.
      if (round === 0) await settle()
      if (round === 1) await cancel()
      await Promise.all([settle(), cancel()])

      const [drained] = await store.drain({ definitionIds: [definitionId], limit: 10 })
      if (drained !== undefined)
        await store.beginUndo([{ runId: drained.runId, endsAs: 'cancelled', undos: [] }])
      await store.tendLimits({ after: null, limit: 100 })
      const run = await store.readRun(older.runId)
      ends.add(run!.run.status)
      const taken = await store.claim({ workerId, definitionIds: [definitionId], limit: 5 })
      expect(taken).toMatchObject({ claims: [{ runId: newer.runId }] })
      expect(await store.readLimits(['newest'])).toMatchObject([{ inUse: 0, waiting: 0 }])
    }
    expect([...ends].sort()).toEqual(['cancelled', 'completed'])
    await other.close()
  })

  it('of many runs that are started at once, the newest completes, and no slot is left', async () => {
    const workflow = define('sync', {
      version: 1,
      input: unchecked<{ customer: string }>(),
      concurrency: { limit: 1, key: ({ input }) => input.customer, atLimit: 'cancel-older' },
    })
      .step('reserve', { run: () => 'reserved', compensate: () => {} })
      .step('work', { dependsOn: ['reserve'], run: () => 'worked' })
    const engines = [another(), another()].map((adapter) => createEngine({ adapter, workflows: [workflow] }))
    for (const engine of engines) await engine.start()

    const started = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => engines[nth % 2]!.run(workflow, { customer: 'acme' })),
    )
    const results = await Promise.allSettled(started.map((run) => run.result()))

    const { rows } = await database.pool.query<{ id: string; status: string }>(
      `select id, status from ${store.schema}.workflow_runs where workflow = 'sync' order by created_at desc, id desc`,
    )
    expect(rows).toHaveLength(20)
    expect(rows[0]!.status).toBe('completed')
    expect(
      rows.map(({ status }) => status).every((status) => ['completed', 'cancelled'].includes(status)),
    ).toBe(true)
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ reason: { type: 'limit_reached' } })
    }
    await expect
      .poll(() => store.readLimits(['sync']), { timeout: 20_000 })
      .toMatchObject([{ inUse: 0, waiting: 0 }])
    for (const engine of engines) await engine.close()
  })

  /** Of one key: a run that has its slot, and a newer one that waits. */
  async function twoRuns(key: string) {
    const workflow = `newest ${randomUUID()}`
    const [definition] = await store.saveDefinitions([definitionOf(workflow, { a: [] })])
    const definitionId = definition!.id
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'newest', leaseMs: 600_000 })
    const claims: Claim[] = []
    for (let nth = 0; nth < 2; nth += 1) {
      await store.startRuns([{ runId: randomUUID(), definitionId, workflow, key: null, input: null }])
      const answer = await store.claim({ workerId, definitionIds: [definitionId], limit: 1 })
      if (answer === 'lost') throw new Error('the worker was lost')
      const [claim] = answer.claims
      const enters: Outcome = { ...claim!, type: 'enters', entries: [{ limit: 'newest', key, of: 'run' }] }
      await store.settle({ workerId, outcomes: [enters], handBackMax: 0 })
      claims.push(claim!)
    }
    return { workerId, definitionId, older: claims[0]!, newer: claims[1]! }
  }
})
