import { randomUUID } from 'node:crypto'
import type { Claim, Outcome } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

const PER_MS = 1_000
const LIMIT = 40

describe.each(servers)('rates on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  const enters = (claim: Claim, limit: string): Outcome => ({
    ...claim,
    type: 'enters',
    entries: [{ limit, key: '', of: 'step' }],
  })

  async function claimed(count: number) {
    const workflow = `rated ${randomUUID()}`
    const [definition] = await store.saveDefinitions([definitionOf(workflow, { a: [] })])
    const { id: definitionId } = definition!
    const runIds = Array.from({ length: count }, () => randomUUID())
    await store.startRuns(runIds.map((runId) => ({ runId, definitionId, workflow, key: null, input: null })))
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'rated', leaseMs: 600_000 })
    const answer = await store.claim({ workerId, definitionIds: [definitionId], limit: count })
    if (answer === 'lost') throw new Error('the worker was lost')
    return { workerId, definitionId, claims: answer.claims }
  }

  const connections = () =>
    Array.from({ length: 4 }, () =>
      postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 2 }),
    )

  it('connections that enter at once get no more than the burst', async () => {
    await store.declareLimits([{ name: 'hourly', concurrency: 1, rate: { perMs: 3_600_000, burst: 5 } }])
    const { workerId, claims } = await claimed(40)
    const others = connections()

    const answers = await Promise.all(
      claims.map((claim, index) =>
        others[index % 4]!.settle({ workerId, outcomes: [enters(claim, 'hourly')], handBackMax: 0 }),
      ),
    )

    const results = answers.flatMap((answer) => answer.results)
    expect(results.filter((result) => result === 'settled')).toHaveLength(5)
    expect(results.filter((result) => result === 'parked')).toHaveLength(35)
    await Promise.all(others.map((other) => other.close()))
  })

  it('four workers get no more instants in a second than the rate says, with its burst', async () => {
    const rate = { perMs: PER_MS, burst: 2 }
    await store.declareLimits([{ name: 'busy', concurrency: LIMIT, rate }])
    const { workerId, definitionId, claims } = await claimed(120)
    const others = connections()
    let waiting = [...claims]
    let done = 0
    const began: number[] = []
    const look = async (runIds: readonly string[]) => {
      const { rows } = await database.pool.query<{ at_ms: number }>(
        `select at_ms from ${store.schema}.workflow_limit_slots where limit_name = 'busy' and run_id = any ($1)`,
        [runIds],
      )
      began.push(...rows.map((row) => row.at_ms))
    }
    const work = async (adapter: PostgresAdapter) => {
      while (done < claims.length) {
        const batch = waiting.splice(0, 7)
        if (batch.length === 0) {
          const answer = await adapter.claim({ workerId, definitionIds: [definitionId], limit: 5 })
          if (answer !== 'lost') waiting.push(...answer.claims)
          await adapter.tendLimits({ after: null, limit: 10 })
          continue
        }
        const outcomes = batch.map((claim) => enters(claim, 'busy'))
        const { results } = await adapter.settle({ workerId, outcomes, handBackMax: 0 })
        const ends = batch.filter((_, index) => results[index] === 'settled').map((claim) => completed(claim))
        await look(ends.map(({ runId }) => runId))
        await adapter.settle({ workerId, outcomes: ends, handBackMax: 0, frees: ends })
        done += ends.length
        waiting.push(...batch.filter((_, index) => typeof results[index] === 'object'))
      }
    }
    await Promise.all(others.map(work))
    waiting = []

    const sorted = began.sort((one, other) => one - other)
    expect(sorted).toHaveLength(120)
    const inWindow = sorted.map((from) => sorted.filter((at) => at >= from && at < from + PER_MS).length)
    expect(Math.max(...inWindow)).toBeLessThanOrEqual(LIMIT + rate.burst)
    await Promise.all(others.map((other) => other.close()))
  })
})
