import type { Claim, Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  completed,
  decided,
  enters,
  entry,
  released,
  retry,
  type Scenario,
} from '../scenario/index.ts'

export const limitCases: Cases = {
  'an attempt that gets a slot goes on: same worker, same fence, and the attempt settles again': async (
    given,
  ) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 1 })
    const [claim] = claims

    expect((await worker.settle([enters(claim!, entry(LIMIT))])).results).toEqual(['settled'])

    expect(await worker.held()).toMatchObject([{ fence: claim!.fence }])
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 0 }])
    expect((await worker.settleAndFree(completed(claim!))).results).toEqual(['settled'])
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
  },

  'no more attempts get slots than there are; the others are parked, and no claim finds them': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 2, runs: 5 })

    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))

    expect(results).toEqual(['settled', 'settled', 'parked', 'parked', 'parked'])
    expect(await worker.take()).toEqual([])
    expect(await runs[4]!.step('a')).toMatchObject({ status: 'ready', workerId: null, attempts: 0 })
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 2, waiting: 3 }])
    await worker.settleAndFree(completed(claims[0]!), completed(claims[1]!))
    await finish(given, worker, runs)
  },

  'the keys of a limit are read with their use, the longest line first': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 5 })
    const keys = ['a', 'b', 'b', 'b', 'a']
    const since = await given.adapter.now()
    await worker.settle(claims.map((claim, at) => enters(claim, entry(LIMIT, keys[at]))))

    const lines = await given.adapter.readLimitLines({ limit: LIMIT, max: 10 })

    expect(lines).toEqual([
      { key: 'b', inUse: 1, waiting: 2, first: { runId: runs[2]!.id, since: expect.closeTo(since, -3) } },
      { key: 'a', inUse: 1, waiting: 1, first: { runId: runs[4]!.id, since: expect.closeTo(since, -3) } },
    ])
    expect(await given.adapter.readLimitLines({ limit: LIMIT, max: 1 })).toEqual(lines.slice(0, 1))
    expect(await given.adapter.readLimitLines({ limit: 'none', max: 10 })).toEqual([])
    await given.operate(runs[4]!).pause()
    expect(await given.adapter.readLimitLines({ limit: LIMIT, max: 10 })).toMatchObject([
      { key: 'b', waiting: 2 },
      { key: 'a', inUse: 1, waiting: 0, first: null },
    ])
  },

  'attempts of different calls meet the same limit': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })

    expect((await worker.settle([enters(claims[0]!, entry(LIMIT))])).results).toEqual(['settled'])
    expect((await worker.settle([enters(claims[1]!, entry(LIMIT))])).results).toEqual(['parked'])
    await worker.settleAndFree(completed(claims[0]!))
    await finish(given, worker, runs)
  },

  'a freed slot goes to the step that has waited longest, whose next attempt enters with it': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle([enters(claims[0]!, entry(LIMIT))])
    await worker.settle([enters(claims[2]!, entry(LIMIT))])
    await worker.settle([enters(claims[1]!, entry(LIMIT))])

    const { queued } = await worker.settleAndFree(completed(claims[0]!))

    expect(queued).toBe(true)
    const [next, ...others] = await worker.take()
    expect(others).toEqual([])
    expect(next).toMatchObject({ runId: runs[2]!.id, fence: 2, attempt: 1 })
    expect((await worker.settle([enters(next!, entry(LIMIT))])).results).toEqual(['settled'])
    await worker.settleAndFree(completed(next!))
    await finish(given, worker, runs)
  },

  'nobody overtakes a step to which a slot was given': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle([enters(claims[0]!, entry(LIMIT)), enters(claims[1]!, entry(LIMIT))])
    await worker.settleAndFree(completed(claims[0]!))

    expect((await worker.settle([enters(claims[2]!, entry(LIMIT))])).results).toEqual(['parked'])
    await finish(given, worker, runs)
  },

  'keys have slots and lines of their own': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    const keyOf = (claim: Claim) => (claim === claims[3] ? 'small' : 'large')

    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT, keyOf(claim)))))

    expect(results).toEqual(['settled', 'parked', 'parked', 'settled'])
    await worker.settleAndFree(completed(claims[3]!))
    expect(await worker.take()).toEqual([])
    await worker.settleAndFree(completed(claims[0]!))
    await finish(given, worker, runs, 'large')
  },

  'an attempt takes the slots of all its limits, or none': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 2, runs: 3 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const both = (claim: Claim) => enters(claim, entry(LIMIT), entry('narrow'))

    expect((await worker.settle(claims.map(both))).results).toEqual(['settled', 'parked', 'parked'])

    // One of two slots is free: those that wait for the narrow limit hold nothing of the other.
    expect(await given.adapter.readLimits()).toMatchObject([
      { name: 'narrow', inUse: 1, waiting: 2 },
      { name: LIMIT, inUse: 1, waiting: 0 },
    ])
    await worker.settleAndFree(completed(claims[0]!))
    const [next] = await worker.take()
    expect((await worker.settle([both(next!)])).results).toEqual(['settled'])
    await worker.settleAndFree(completed(next!))
    const [last] = await worker.take()
    expect((await worker.settle([both(last!)])).results).toEqual(['settled'])
    await worker.settleAndFree(completed(last!))
    await allCompleted(runs)
  },

  'a step whose other limit is full moves to the line of that one, and the next one gets the slot': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const [one, other, both, last] = claims as [Claim, Claim, Claim, Claim]
    await worker.settle([enters(one, entry(LIMIT)), enters(both, entry(LIMIT), entry('narrow'))])
    await worker.settle([enters(last, entry(LIMIT)), enters(other, entry('narrow'))])

    await worker.settleAndFree(completed(one))

    const claimed = await worker.take()
    expect(claimed).toMatchObject([{ runId: last.runId }])
    expect(await given.adapter.readLimitWaits(both.runId)).toMatchObject([{ limit: 'narrow', place: 1 }])
    await worker.settle([enters(claimed[0]!, entry(LIMIT))])
    await worker.settleAndFree(completed(other))
    await worker.settleAndFree(completed(claimed[0]!))
    const [freed] = await worker.take()
    expect(freed).toMatchObject({ runId: both.runId })
    await worker.settle([enters(freed!, entry(LIMIT), entry('narrow'))])
    await worker.settleAndFree(completed(freed!))
    await allCompleted(runs)
  },

  'asking again, because the answer was lost, takes nothing twice': async (given) => {
    const { worker, claims } = await started(given, { slots: 2, runs: 3 })
    const asked = claims.map((claim) => enters(claim, entry(LIMIT)))
    const { results } = await worker.settle(asked)

    expect((await worker.settle(asked)).results).toEqual(results)

    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 2, waiting: 1 }])
  },

  'a worker that lost its step enters nothing': async (given) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 1 })
    await given.expireLeases()
    await given.sweep()
    const other = await given.worker()
    await other.take()

    expect((await worker.settle([enters(claims[0]!, entry(LIMIT))])).results).toEqual(['lost'])
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
  },

  'a slot is freed by each way in which its attempt ends': async (given) => {
    const ends: readonly ((claim: Claim) => Outcome)[] = [
      (claim) => completed(claim),
      (claim) => retry(claim, 0),
      (claim) => released(claim),
      (claim) => released(claim, false),
    ]
    for (const end of ends) {
      const { worker, claims } = await started(given, { slots: 1, runs: 1 })
      await worker.settle([enters(claims[0]!, entry(LIMIT))])

      await worker.settleAndFree(end(claims[0]!))

      expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
    }
  },

  'an attempt that goes on keeps its slot, whatever its worker asks to free': async (given) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 1 })
    await worker.settle([enters(claims[0]!, entry(LIMIT))])

    await worker.settleAndFree(decided(claims[0]!))

    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1 }])
  },

  'a limit that nobody declared lets everybody in': async (given) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 3 })

    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry('unknown'))))

    expect(results).toEqual(['settled', 'settled', 'settled'])
  },
}

export const LIMIT = 'stripe'

/** Runs of one step each, all claimed. */
export async function started(
  given: Scenario,
  { slots, runs: count }: { readonly slots: number; readonly runs: number },
): Promise<{
  worker: CaseWorker
  claims: readonly Claim[]
  runs: readonly CaseRun[]
  graph: CaseRun['graph']
}> {
  await given.adapter.declareLimits([{ name: LIMIT, concurrency: slots }])
  const graph = await given.graph('limited', { a: [] })
  const runs: CaseRun[] = []
  for (let nth = 0; nth < count; nth += 1) runs.push(await given.start(graph))
  const worker = await given.worker()
  const claims: Claim[] = []
  for (const run of runs) claims.push(await worker.claimOf(run, 'a'))
  return { worker, claims, runs, graph }
}

/** Lets every parked step have its turn, one slot after another. */
export async function finish(
  given: Scenario,
  worker: CaseWorker,
  runs: readonly CaseRun[],
  key = '',
): Promise<void> {
  for (let turn = 0; turn <= runs.length; turn += 1) {
    const claims = await worker.take()
    for (const claim of claims) {
      const { results } = await worker.settle([enters(claim, entry(LIMIT, key))])
      expect(results).toEqual(['settled'])
    }
    await worker.settleAndFree(...claims.map((claim) => completed(claim)))
  }
  await allCompleted(runs)
  expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
}

async function allCompleted(runs: readonly CaseRun[]): Promise<void> {
  for (const run of runs) expect(await run.status()).toBe('completed')
}
