import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, enters, entry, type Scenario } from '../scenario/index.ts'

export const limitedRunCases: Cases = {
  'a run keeps its slot until it has ended': async (given) => {
    const { first, second, worker } = await twoPairs(given)
    const [a, other] = [await worker.claimOf(first, 'a'), await worker.claimOf(second, 'a')]
    const asked = await worker.settle([enters(a, OF_RUN), enters(other, OF_RUN)])
    expect(asked.results).toEqual(['settled', 'parked'])

    await worker.settleAndFree(completed(a))

    expect(await given.adapter.readLimits(['pairs'])).toMatchObject([{ inUse: 1, waiting: 1 }])
    const b = await worker.claimOf(first, 'b')
    expect((await worker.settle([enters(b, OF_RUN)])).results).toEqual(['settled'])
    await worker.settleAndFree(completed(b))
    expect(await given.adapter.readLimits(['pairs'])).toMatchObject([{ inUse: 1, waiting: 0 }])
    expect(await worker.take()).toMatchObject([{ runId: second.id, step: 0 }])
  },

  'the steps of a run share its slot': async (given) => {
    await given.adapter.declareLimits([{ name: 'pairs', concurrency: 1 }])
    const run = await given.loose(3)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 's0', 's1', 's2')

    const { results } = await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))

    expect(results).toEqual(['settled', 'settled', 'settled'])
    expect(await given.adapter.readLimits(['pairs'])).toMatchObject([{ inUse: 1 }])
  },

  'all parked steps of a run get their turn with the slot of the run': async (given) => {
    await given.adapter.declareLimits([{ name: 'pairs', concurrency: 1 }])
    const graph = await given.graph('loose', { a: [], b: [] })
    const [first, second] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(first, 'a', 'b')
    const others = await worker.claimsOf(second, 'a', 'b')
    await worker.settle([enters(a!, OF_RUN), enters(b!, OF_RUN)])
    expect((await worker.settle(others.map((claim) => enters(claim, OF_RUN)))).results).toEqual([
      'parked',
      'parked',
    ])

    await worker.settleAndFree(completed(a!), completed(b!))

    expect(await worker.take()).toMatchObject([
      { runId: second.id, step: 0 },
      { runId: second.id, step: 1 },
    ])
  },
}

const OF_RUN = entry('pairs', '', 'run')

async function twoPairs(given: Scenario) {
  await given.adapter.declareLimits([{ name: 'pairs', concurrency: 1 }])
  const graph = await given.graph('pair', { a: [], b: ['a'] })
  const [first, second] = [await given.start(graph), await given.start(graph)]
  return { first, second, worker: await given.worker() }
}
