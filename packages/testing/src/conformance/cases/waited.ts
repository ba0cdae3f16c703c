import type { Claim } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, enters, entry, PAIR, retry, type Scenario } from '../scenario/index.ts'
import { expand, mapped } from './mapped-run.ts'

// Less than a level of priority moves a step, and more than a case takes.
const CASE_MS_MAX = 30_000

export const waitedCases: Cases = {
  'a claim says how long its step had been due, whatever its priority': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await given.start(graph)
    await given.start(graph, { priority: 3, stepPriorities: [4, 0] })
    await given.advance(5_000)

    const claims = await claimAll(given, graph.id)

    expect(claims).toHaveLength(2)
    expectWaited(claims, 5_000)
  },

  'a step that was due later than it was queued counts from then on, whether or not it has its place': async (
    given,
  ) => {
    const graph = await given.graph('pair', PAIR)
    const placed = await given.start(graph, { startDelayMs: 60_000, priority: 5 })
    await given.advance(60_000)
    await given.sweep()
    await given.start(graph, { startDelayMs: 60_000, priority: 5 })
    await given.advance(60_000)

    const claims = await claimAll(given, graph.id)

    expect(claims).toHaveLength(2)
    const isPlaced = ({ runId }: Claim) => runId === placed.id
    expectWaited(claims.filter(isPlaced), 60_000)
    expectWaited(
      claims.filter((claim) => !isPlaced(claim)),
      0,
    )
  },

  'a claim of an undo says how long it had been due': async (given) => {
    const run = await given.pair()
    await (await given.worker()).complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await given.advance(5_000)

    const claims = await claimAll(given, run.graph.id)

    expect(claims).toMatchObject([{ direction: 'undo' }])
    expectWaited(claims, 5_000)
  },

  'a claim of undos alone says how long each had been due': async (given) => {
    const run = await given.pair()
    await (await given.worker()).complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await given.advance(5_000)

    const claims = await claimAll(given, run.graph.id, true)

    expect(claims).toMatchObject([{ direction: 'undo' }])
    expectWaited(claims, 5_000)
  },

  'a claim of a retry counts from the end of its delay': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 60_000)])
    await given.advance(65_000)

    expectWaited(await claimAll(given, run.graph.id), 5_000)
  },

  'claims of items say how long each had been due': async (given) => {
    const { run, worker } = await mapped(given, { priority: 2 })
    await expand(worker, run, 70)
    await given.advance(5_000)

    const claims = await claimAll(given, run.graph.id)

    expect(claims).toHaveLength(70)
    expectWaited(claims, 5_000)
  },

  'a step that waited for a slot counts from when it was parked': async (given) => {
    await given.adapter.declareLimits([{ name: 'pool', concurrency: 1 }])
    const graph = await given.graph('single', { a: [] })
    for (let n = 0; n < 2; n += 1) await given.start(graph)
    const worker = await given.worker()
    await given.advance(60_000)
    const claims = await worker.take()
    await worker.settle(claims.map((claim) => enters(claim, entry('pool'))))
    await given.advance(5_000)
    await worker.settleAndFree(completed(claims[0]!))
    await given.sweep()

    const freed = await claimAll(given, graph.id)

    expect(freed).toHaveLength(1)
    expectWaited(freed, 5_000)
  },

  'a step that is handed back with a settlement, or that is held, does not say how long it was due': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.advance(1_000)

    const { claims } = await given.adapter.settle({
      ...{ workerId: worker.id, outcomes: [completed(claim)] },
      handBackMax: 1,
    })

    expect(claims).toMatchObject([{ step: 1 }])
    expect([...claims, ...(await worker.held())].map(({ waitedMs }) => waitedMs)).toEqual([
      undefined,
      undefined,
    ])
  },
}

async function claimAll(given: Scenario, definitionId: number, undosOnly = false): Promise<readonly Claim[]> {
  const { id: workerId } = await given.worker()
  const definitionIds = [definitionId]
  const claimed = await given.adapter.claim({ workerId, definitionIds, limit: 100, undosOnly })
  if (claimed === 'lost') throw new Error('The worker was lost while claiming.')
  return claimed.claims
}

/** The real clock may go on while a case runs. */
function expectWaited(claims: readonly Claim[], ms: number): void {
  for (const { waitedMs } of claims) {
    expect(waitedMs).toBeGreaterThanOrEqual(ms - 1)
    expect(waitedMs).toBeLessThan(ms + CASE_MS_MAX)
  }
}
