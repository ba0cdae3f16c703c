import type { Claim, RateSpan } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { type CaseWorker, completed, enters, entry, retry, type Scenario } from '../scenario/index.ts'
import { started } from './limits.ts'

export const RATE = 'partner'
export const MINUTE = 60_000
/** So far before its instant a step that waits for it is called. */
export const SOON = 1_000
/** The answer to an attempt whose instant comes soon. */
export const LATER = { inMs: expect.any(Number) }

export const rateCases: Cases = {
  'as many attempts enter at once as the burst says; the others are parked, and no claim finds them': async (
    given,
  ) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 2, runs: 4 })

    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))

    expect(results).toEqual(['settled', 'settled', 'parked', 'parked'])
    await tend(given)
    expect(await worker.take()).toEqual([])
    expect(await given.adapter.readLimits([RATE])).toMatchObject([{ inUse: 2, waiting: 2 }])
  },

  'a step that waits is called shortly before its instant, waits for it with its worker, and enters then':
    async (given) => {
      const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
      const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))
      expect(results).toEqual(['settled', 'parked', 'parked'])

      await given.advance(MINUTE - SOON)
      expect((await tend(given)).queued).toBe(true)
      const [next, ...others] = await worker.take()
      expect(others).toEqual([])
      expect(next).toMatchObject({ runId: claims[1]!.runId, attempt: 1 })
      expect((await worker.settle([enters(next!, entry(RATE))])).results).toEqual([LATER])
      const [wait] = await given.adapter.readLimitWaits(claims[1]!.runId)
      expect(wait).toMatchObject({ limit: RATE, place: 0, at: expect.any(Number) })
      expect(await given.adapter.readLimitWaits(claims[2]!.runId)).toMatchObject([{ place: 1, at: null }])

      await given.advance(SOON)
      expect((await worker.settle([enters(next!, entry(RATE))])).results).toEqual(['settled'])
    },

  'a step that would have to wait for less than a second waits with its worker': async (given) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 2 })

    const settlement = await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))

    expect(settlement).toMatchObject({ results: ['settled', LATER], queued: false })
    expect(await given.adapter.readLimitWaits(claims[1]!.runId)).toMatchObject([
      { place: 0, at: expect.any(Number) },
    ])
    await given.advance(SOON)
    expect((await worker.settle([enters(claims[1]!, entry(RATE))])).results).toEqual(['settled'])
  },

  'no more steps are called than can begin soon': async (given) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 6 })

    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))

    expect(results).toEqual(['settled', LATER, 'parked', 'parked', 'parked', 'parked'])
    expect(await worker.take()).toEqual([])
    await given.advance(SOON)
    const entered = await worker.settle([enters(claims[1]!, entry(RATE))])
    expect(entered).toMatchObject({ results: ['settled'], queued: true })
    expect(await worker.take()).toMatchObject([{ runId: claims[2]!.runId }])
    await tend(given)
    expect(await worker.take()).toEqual([])
  },

  'a step that comes too late for its instant gets the next one, before those that came after it': async (
    given,
  ) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 4 })
    await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))
    await given.advance(MINUTE - SOON)
    await tend(given)
    const [late] = await worker.take()
    expect((await worker.settle([enters(late!, entry(RATE))])).results).toEqual([LATER])

    await given.advance(SOON + MINUTE / 2)
    expect((await worker.settle([enters(late!, entry(RATE))])).results).toEqual(['parked'])

    expect(await given.adapter.readLimitWaits(late!.runId)).toMatchObject([{ place: 1 }])
    await given.advance(MINUTE / 2 - SOON)
    await tend(given)
    const [again] = await worker.take()
    expect(again).toMatchObject({ runId: late!.runId })
    expect((await worker.settle([enters(again!, entry(RATE))])).results).toEqual([LATER])
    await given.advance(SOON)
    expect((await worker.settle([enters(again!, entry(RATE))])).results).toEqual(['settled'])
  },

  'a step that was called late begins at once: it has lost no instant': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))
    await given.advance(MINUTE - SOON)
    await tend(given)
    await given.advance(SOON + MINUTE / 2)

    const [late] = await worker.take()

    expect((await worker.settle([enters(late!, entry(RATE))])).results).toEqual(['settled'])
  },

  'after a time in which nobody ran, a backlog does not begin at once': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 5 })
    await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))
    await given.advance(100 * MINUTE)
    await tend(given)

    const taken = await worker.take()
    const { results } = await worker.settle(taken.map((claim) => enters(claim, entry(RATE))))

    expect(results).toEqual(['settled'])
    expect(await worker.take()).toEqual([])
  },

  'each attempt needs an instant of its own, and asking again takes nothing twice': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 2, runs: 2 })
    const [claim, other] = claims as [Claim, Claim]
    await worker.settle([enters(claim, entry(RATE))])
    expect((await worker.settle([enters(claim, entry(RATE))])).results).toEqual(['settled'])
    await worker.settleAndFree(retry(claim, 0))

    const [second] = await worker.take()
    expect((await worker.settle([enters(second!, entry(RATE))])).results).toEqual(['settled'])
    expect((await worker.settle([enters(other, entry(RATE))])).results).toEqual(['parked'])
  },

  'keys have rates of their own': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
    const keys = ['large', 'large', 'small']

    const asked = claims.map((claim, index) => enters(claim, entry(RATE, keys[index]!)))

    expect((await worker.settle(asked)).results).toEqual(['settled', 'parked', 'settled'])
  },

  'an attempt that misses a slot of another limit uses up no instant': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const [holder, both, other] = claims as [Claim, Claim, Claim]
    await worker.settle([enters(holder, entry('narrow'))])

    expect((await worker.settle([enters(both, entry('narrow'), entry(RATE))])).results).toEqual(['parked'])

    expect((await worker.settle([enters(other, entry(RATE))])).results).toEqual(['settled'])
  },

  'an attempt that misses an instant takes no slot of another limit': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const [holder, both, other] = claims as [Claim, Claim, Claim]
    await worker.settle([enters(holder, entry(RATE))])

    expect((await worker.settle([enters(both, entry('narrow'), entry(RATE))])).results).toEqual(['parked'])

    expect((await worker.settle([enters(other, entry('narrow'))])).results).toEqual(['settled'])
  },

  'a rate that is set to 0 lets nobody begin, and one that is raised takes effect at once': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
    await given.adapter.setLimit({ name: RATE, concurrency: 0, rate: { perMs: MINUTE, burst: 1 } })
    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))
    expect(results).toEqual(['parked', 'parked', 'parked'])
    await given.advance(10 * MINUTE)
    await tend(given)
    expect(await worker.take()).toEqual([])

    await given.adapter.setLimit({ name: RATE, concurrency: 100, rate: { perMs: MINUTE, burst: 3 } })
    await tend(given)

    const taken = await worker.take()
    expect(taken).toHaveLength(3)
    const entered = await worker.settle(taken.map((claim) => enters(claim, entry(RATE))))
    expect(entered.results).toEqual(['settled', 'settled', 'settled'])
  },

  'instants that were given before a change of the rate are void': async (given) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))

    const rate = { perMs: MINUTE, burst: 1 }
    const changed = await given.adapter.setLimit({ name: RATE, concurrency: 1, rate })

    expect(changed).toMatchObject({ concurrency: 1, declared: 60, set: 1, rate, setRate: rate })
    await given.advance(1_000)
    expect((await worker.settle([enters(claims[1]!, entry(RATE))])).results).toEqual(['parked'])
    const reset = await given.adapter.setLimit({ name: RATE, concurrency: null })
    expect(reset).toMatchObject({ concurrency: 60, set: null, setRate: null })
  },

  'a rate that is pushed back lets nobody of this key begin before, and then one after another': async (
    given,
  ) => {
    const { worker, claims } = await rated(given, { limit: 6_000, perMs: MINUTE, burst: 2, runs: 4 })
    await given.adapter.pushBackLimits({ lines: [{ limit: RATE, key: 'large' }], afterMs: MINUTE })
    const keys = ['large', 'large', 'large', 'small']
    const asked = claims.map((claim, index) => enters(claim, entry(RATE, keys[index]!)))
    expect((await worker.settle(asked)).results).toEqual(['parked', 'parked', 'parked', 'settled'])
    expect(await given.adapter.readLimits([RATE])).toMatchObject([{ pushedBackUntil: expect.any(Number) }])
    await tend(given)
    expect(await worker.take()).toEqual([])

    // An earlier instant changes nothing.
    await given.adapter.pushBackLimits({ lines: [{ limit: RATE, key: 'large' }], afterMs: 1 })
    await given.advance(MINUTE - 2 * SOON)
    await tend(given)
    expect(await worker.take()).toEqual([])
    await given.advance(SOON)
    await tend(given)
    const called = await worker.take()
    expect(called).toMatchObject([{ runId: claims[0]!.runId }, { runId: claims[1]!.runId }])
    const soon = called.map((claim) => enters(claim, entry(RATE, 'large')))
    expect((await worker.settle(soon)).results).toEqual([LATER, LATER])
    await given.advance(SOON)
    expect((await worker.settle(soon.slice(0, 1))).results).toEqual(['settled'])
    expect(await given.adapter.readLimits([RATE])).toMatchObject([{ pushedBackUntil: null }])
  },

  'an instant that was given before its key was pushed back is void': async (given) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(RATE))))

    await given.adapter.pushBackLimits({ lines: [{ limit: RATE, key: '' }], afterMs: MINUTE })

    await given.advance(1_000)
    expect((await worker.settle([enters(claims[1]!, entry(RATE))])).results).toEqual(['parked'])
  },

  'a concurrency limit that is pushed back gives no slots before': async (given) => {
    const { worker, claims } = await started(given, { slots: 2, runs: 3 })
    const limit = 'stripe'
    await worker.settle([enters(claims[0]!, entry(limit))])
    await given.adapter.pushBackLimits({ lines: [{ limit, key: '' }], afterMs: MINUTE })

    expect((await worker.settle([enters(claims[1]!, entry(limit))])).results).toEqual(['parked'])
    await worker.settleAndFree(completed(claims[0]!))
    await tend(given)
    expect(await worker.take()).toEqual([])

    await given.advance(MINUTE)
    expect((await tend(given)).queued).toBe(true)
    expect(await worker.take()).toMatchObject([{ runId: claims[1]!.runId }])
  },

  'pushing back a limit that nobody declared changes nothing': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 1 })

    await given.adapter.pushBackLimits({ lines: [{ limit: 'unknown', key: '' }], afterMs: MINUTE })

    expect((await worker.settle([enters(claims[0]!, entry('unknown'))])).results).toEqual(['settled'])
  },

  'a limit that becomes a rate forgets what was set for the other kind': async (given) => {
    await given.adapter.declareLimits([{ name: RATE, concurrency: 5 }])
    await given.adapter.setLimit({ name: RATE, concurrency: 7 })

    const rate = { perMs: MINUTE, burst: 3 }
    await given.adapter.declareLimits([{ name: RATE, concurrency: 9, rate }])

    expect(await given.adapter.readLimits([RATE])).toMatchObject([
      { concurrency: 9, declared: 9, declaredRate: rate, set: null, setRate: null, rate },
    ])
  },
}

/** Runs of one step each, all claimed. */
export async function rated(
  given: Scenario,
  { limit, runs, ...rate }: RateSpan & { readonly limit: number; readonly runs: number },
): Promise<{ worker: CaseWorker; claims: readonly Claim[] }> {
  const { worker, claims } = await started(given, { slots: 1, runs })
  await given.adapter.declareLimits([{ name: RATE, concurrency: limit, rate }])
  return { worker, claims }
}

export function tend(given: Scenario) {
  return given.adapter.tendLimits({ after: null, limit: 100 })
}
