import { randomUUID } from 'node:crypto'
import { type Claim, itemNumber } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'

describe.each(servers)('claims of the items of wide maps on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  async function register(): Promise<string> {
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'w', leaseMs: 60_000 })
    return workerId
  }

  /** A run whose map has so many items in the queue, and a function that claims what it can, by at most so many a claim. */
  async function expanded(name: string, count: number) {
    const shape = definitionOf(name, { 'm[]': [], m: ['m[]'] }, { 'm[]': 'map', m: 'join' })
    const [definition] = await store.saveDefinitions([shape])
    const { id: definitionId } = definition!
    const [runId, workerId] = [randomUUID(), await register()]
    await store.startRuns([{ runId, definitionId, workflow: name, key: null, input: null }])
    const drained = async (by: string, limit: number): Promise<readonly Claim[]> => {
      const claims: Claim[] = []
      for (let more = true; more; ) {
        const answer = await store.claim({ workerId: by, definitionIds: [definitionId], limit })
        if (answer === 'lost') throw new Error('The worker was lost.')
        claims.push(...answer.claims)
        more = answer.more
      }
      return claims
    }
    const [opener] = await drained(workerId, 10)
    const items = Array.from({ length: count }, (_, n) => ({ key: `${n}`, value: `${n}` }))
    const { step, fence, direction } = opener!
    const outcome = {
      runId,
      step,
      fence,
      direction,
      definitionId,
      type: 'expanded',
      items,
      atOnce: null,
    } as const
    await store.settle({ workerId, outcomes: [outcome], handBackMax: 0 })
    return { runId, workerId, drained }
  }

  const indexes = (claims: readonly Claim[]) =>
    claims.map(({ step }) => step - itemNumber(0, 0)).toSorted((one, two) => one - two)
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

  it('pass over a locked item and take all others, and it is claimed once it is free', async () => {
    const { runId, workerId, drained } = await expanded('locked', 200)
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      await client.query(
        `select from ${store.schema}.workflow_steps where run_id = $1 and step = $2 for update`,
        [runId, itemNumber(0, 70)],
      )
      expect(indexes(await drained(workerId, 1_000))).toEqual(upTo(200).filter((n) => n !== 70))
    } finally {
      await client.query('rollback')
      client.release()
    }
    expect(indexes(await drained(workerId, 1_000))).toEqual([70])
  })

  it('give each item to one of several workers that claim at the same time', async () => {
    const { drained } = await expanded('shared', 1_000)
    const workers = await Promise.all([register(), register(), register()])
    const shares = await Promise.all(workers.map((workerId, n) => drained(workerId, 7 + n)))
    // A worker that met only rows which others had locked stopped early: the rest is there for the next look.
    const rest = await drained(workers[0]!, 1_000)
    expect(indexes([...shares.flat(), ...rest])).toEqual(upTo(1_000))
    const { rows } = await database.pool.query(`select from ${store.schema}.workflow_queue_overview`)
    expect(rows).toEqual([])
  })
})
