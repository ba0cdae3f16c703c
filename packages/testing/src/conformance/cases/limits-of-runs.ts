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
    expect(await given.adapter.readLimits(['pairs'])).toMatchObject([{ inUse: 0, waiting: 0 }])
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

    const [next, ...none] = await worker.take()
    expect(next).toMatchObject({ runId: second.id, step: 0 })
    expect(none).toEqual([])
    expect(await worker.settle([enters(next!, OF_RUN)])).toMatchObject({ results: ['settled'], queued: true })
    expect(await worker.take()).toMatchObject([{ runId: second.id, step: 1 }])
  },
}

export const limitCircleCases: Cases = {
  'a step is in a circle if a run that waits for its run holds a slot of its limit': async (given) => {
    await given.adapter.declareLimits([{ name: 'pairs', concurrency: 1 }])
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    const worker = await given.worker()
    const parent = await given.start(graph)
    const top = await worker.claimOf(parent, 'a')
    await worker.settle([enters(top, OF_RUN)])
    const middle = await given.start(graph, { parent: { runId: parent.id, step: 0 } })
    const between = await worker.claimOf(middle, 'a')
    const child = await given.start(graph, { parent: { runId: middle.id, step: 0 } })
    const other = await given.start(graph)
    const claims = [await worker.claimOf(child, 'a'), await worker.claimOf(other, 'a')]
    await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))

    const circle = { runId: child.id, step: 0, limit: 'pairs', key: '', holderId: parent.id }
    expect(await given.adapter.readLimitCircles()).toEqual([circle])
    expect(await given.adapter.readLimitCircles({ runId: child.id })).toEqual([circle])
    expect(await given.adapter.readLimitCircles({ runId: other.id })).toEqual([])

    // The parent does not wait for the run between them any more.
    await worker.settle([completed(between)])
    expect(await given.adapter.readLimitCircles()).toEqual([])
  },
}

const OF_RUN = entry('pairs', '', 'run')

async function twoPairs(given: Scenario) {
  await given.adapter.declareLimits([{ name: 'pairs', concurrency: 1 }])
  const graph = await given.graph('pair', { a: [], b: ['a'] })
  const [first, second] = [await given.start(graph), await given.start(graph)]
  return { first, second, worker: await given.worker() }
}
