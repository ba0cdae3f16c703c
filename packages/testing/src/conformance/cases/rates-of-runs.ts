import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { enters, entry, retry } from '../scenario/index.ts'
import { LATER, MINUTE, RATE, rated, SOON, tend } from './rates.ts'

const ENTRY_OF_RUN = entry(RATE, '', 'run')

export const runRateCases: Cases = {
  'a run enters the rate of its workflow once': async (given) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 2 })

    const asked = claims.map((claim) => enters(claim, entry(RATE, '', 'run')))

    expect((await worker.settle(asked)).results).toEqual(['settled', 'parked'])
    await worker.settleAndFree(retry(claims[0]!, 0))
    const [again] = await worker.take()
    expect(again).toMatchObject({ runId: claims[0]!.runId })
    expect((await worker.settle([enters(again!, entry(RATE, '', 'run'))])).results).toEqual(['settled'])
  },

  'a run that comes too late for its instant gets the next one, before those that came after it': async (
    given,
  ) => {
    const { worker, claims } = await rated(given, { limit: 1, perMs: MINUTE, burst: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, ENTRY_OF_RUN)))
    await given.advance(MINUTE - SOON)
    await tend(given)
    const [late] = await worker.take()
    expect((await worker.settle([enters(late!, ENTRY_OF_RUN)])).results).toEqual([LATER])

    await given.advance(SOON + MINUTE / 2)
    expect((await worker.settle([enters(late!, ENTRY_OF_RUN)])).results).toEqual(['parked'])

    expect(await worker.take()).toEqual([])
    expect(await given.adapter.readLimitWaits(late!.runId)).toMatchObject([{ place: 1, at: null }])
    await given.advance(MINUTE / 2 - SOON)
    await tend(given)
    const [again] = await worker.take()
    expect(again).toMatchObject({ runId: late!.runId })
    expect((await worker.settle([enters(again!, ENTRY_OF_RUN)])).results).toEqual([LATER])
    await given.advance(SOON)
    expect((await worker.settle([enters(again!, ENTRY_OF_RUN)])).results).toEqual(['settled'])
  },

  'a run whose rate was pushed back is called again only shortly before': async (given) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 2 })
    const { results } = await worker.settle(claims.map((claim) => enters(claim, ENTRY_OF_RUN)))
    expect(results).toEqual(['settled', LATER])
    await given.advance(SOON)
    await given.adapter.pushBackLimits({ lines: [{ limit: RATE, key: '' }], afterMs: 2 * SOON })

    expect((await worker.settle([enters(claims[1]!, ENTRY_OF_RUN)])).results).toEqual(['parked'])

    expect(await worker.take()).toEqual([])
    await given.advance(2 * SOON)
    await tend(given)
    const [again] = await worker.take()
    expect((await worker.settle([enters(again!, ENTRY_OF_RUN)])).results).toEqual(['settled'])
  },

  'all steps of a run wait for its instant, and each enters once it has come': async (given) => {
    await given.adapter.declareLimits([{ name: RATE, concurrency: 60, rate: { perMs: MINUTE, burst: 1 } }])
    const graph = await given.graph('loose', { a: [], b: [] })
    const [first, second] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    const claims = [...(await worker.claimsOf(first, 'a', 'b')), ...(await worker.claimsOf(second, 'a', 'b'))]
    const asked = claims.map((claim) => enters(claim, ENTRY_OF_RUN))

    expect((await worker.settle(asked)).results).toEqual(['settled', 'settled', LATER, LATER])

    await given.advance(SOON)
    expect((await worker.settle(asked.slice(2))).results).toEqual(['settled', 'settled'])
  },
}
