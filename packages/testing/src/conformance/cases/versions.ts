import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { PAIR } from '../scenario/index.ts'

export const versionCases: Cases = {
  'two versions of a workflow run at the same time, each by its own graph': async (given) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', { z: [] }, 2)]
    const [older, newer] = [await given.start(one), await given.start(two)]
    const worker = await given.worker()

    await worker.complete(older, 'a')
    await worker.complete(newer, 'z')
    await worker.complete(older, 'b')

    expect(await older.record()).toMatchObject({ status: 'completed', version: 1, definitionId: one.id })
    expect(await newer.record()).toMatchObject({ status: 'completed', version: 2, definitionId: two.id })
    expect(await older.statuses()).toEqual({ a: 'completed', b: 'completed' })
    expect(await newer.statuses()).toEqual({ z: 'completed' })
  },

  'a run whose version no worker has waits unchanged, whatever workers of other versions do': async (
    given,
  ) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
    const waiting = await given.start(one)
    const before = await waiting.read()
    const worker = await given.worker()

    for (let round = 0; round < 3; round += 1) {
      await given.start(two)
      expect(await worker.claim(10, [two])).toHaveLength(1)
      expect(await given.adapter.drain({ definitionIds: [two.id], limit: 10 })).toEqual([])
      await given.sweep()
    }

    expect(await waiting.read()).toEqual(before)
    expect(await worker.claim(10, [one])).toMatchObject([{ runId: waiting.id, step: 0, fence: 1 }])
  },

  'the undo of a run is left to workers that have its version': async (given) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
    const run = await given.start(one)
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)

    const drainedByOthers = await given.adapter.drain({ definitionIds: [two.id], limit: 10 })
    await given.undo(run)
    const claimedByOthers = await worker.claim(10, [two])

    expect(drainedByOthers).toEqual([])
    expect(claimedByOthers).toEqual([])
    expect(await worker.claim(10, [one])).toMatchObject([{ runId: run.id, step: 0, direction: 'undo' }])
  },

  'steps held by a dead worker of one version are requeued by workers of another, but not run by them':
    async (given) => {
      const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
      const run = await given.start(one)
      await (await given.worker()).take()
      await given.expireLeases()
      const other = await given.worker()

      await given.sweep()

      expect(await run.step('a')).toMatchObject({ status: 'ready', losses: 1 })
      expect(await other.claim(10, [two])).toEqual([])
      expect(await other.claim(10, [one])).toMatchObject([{ runId: run.id, fence: 2 }])
    },

  'a completion makes steps of its own version ready, which workers of other versions don’t claim':
    withSecond(async (given, second) => {
      const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
      const run = await given.start(one)
      const worker = await given.worker()
      await worker.complete(run, 'a')
      const newer = await given.worker(second)

      expect(await newer.claim(10, [two])).toEqual([])
      expect(await worker.claim(10, [one])).toMatchObject([{ runId: run.id, step: 1 }])
    }),
}
