import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { enters, entry, retry } from '../scenario/index.ts'
import { MINUTE, RATE, rated, SOON, tend } from './rates.ts'

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
    await given.advance(SOON + MINUTE / 2)

    const [late] = await worker.take()
    expect((await worker.settle([enters(late!, ENTRY_OF_RUN)])).results).toEqual(['parked'])

    // It has lost that instant: else it would be queued for it again at once.
    expect(await worker.take()).toEqual([])
    expect(await given.adapter.readLimitWaits(late!.runId)).toMatchObject([{ place: 1, at: null }])
    await given.advance(MINUTE / 2 - SOON)
    await tend(given)
    expect(await worker.take()).toEqual([])
    await given.advance(SOON)
    const [again] = await worker.take()
    expect(again).toMatchObject({ runId: late!.runId })
    expect((await worker.settle([enters(again!, ENTRY_OF_RUN)])).results).toEqual(['settled'])
  },

  'a run that comes too late for an instant a moment ahead of the next is not queued again at once': async (
    given,
  ) => {
    const { worker, claims } = await rated(given, { limit: 60, perMs: MINUTE, burst: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, ENTRY_OF_RUN)))
    await given.advance(1_600)
    const taken = await worker.take()
    expect(taken).toMatchObject([{ runId: claims[1]!.runId }])
    await given.adapter.pushBackLimits({ lines: [{ limit: RATE, key: '' }], afterMs: SOON })

    expect((await worker.settle(taken.map((claim) => enters(claim, ENTRY_OF_RUN)))).results).toEqual([
      'parked',
    ])

    expect(await worker.take()).toEqual([])
    await given.advance(SOON)
    const [again] = await worker.take()
    expect((await worker.settle([enters(again!, ENTRY_OF_RUN)])).results).toEqual(['settled'])
  },
}
