import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { CANCELLED, completed, PAIR } from '../scenario/index.ts'

export const stopCases: Cases = {
  'a cancelled run stops, with its cause, and nothing of it starts any more': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    const stopped = await given.cancel(run)

    expect(stopped).toEqual([run.id])
    expect(await run.record()).toMatchObject({ status: 'compensating', cause: CANCELLED, finishedAt: null })
    expect(await worker.take()).toEqual([])
  },

  'a run is cancelled once, and keeps its first cause': async (given) => {
    const run = await given.pair()
    await given.cancel(run)
    const before = await given.snapshot()

    const again = await given.adapter.cancelRuns({
      runIds: [run.id],
      cause: '{"type":"cancelled","reason":"other"}',
    })

    expect(again).toEqual([])
    expect(await given.snapshot()).toEqual(before)
  },

  'a cancellation adds the entry it is given to the history of the runs that it stops, and to no other':
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      const [stopped, silently] = [await given.start(graph), await given.start(graph)]
      await given.cancel(silently)
      const entry = { action: 'cancel', actor: 'cy', reason: null, change: '{"compensate":true}' }
      const runIds = [stopped.id, silently.id]

      await given.adapter.cancelRuns({ runIds, cause: CANCELLED, entry })

      const historyOf = (runId: string) => given.adapter.readHistory({ runId, limit: 10 })
      expect(await historyOf(stopped.id)).toMatchObject([{ ...entry, step: null, name: null, key: null }])
      expect(await historyOf(silently.id)).toEqual([])
    },

  'cancelling a run that has failed or completed changes nothing': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [failing, completing] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.fail(failing, 'a')
    await worker.complete(completing, 'a')
    const before = await given.snapshot()

    expect(await given.cancel(failing, completing)).toEqual([])
    expect(await given.snapshot()).toEqual(before)
  },

  'cancelling several runs leaves out the unknown and those that cannot be': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [first, second, third] = [
      await given.start(graph),
      await given.start(graph),
      await given.start(graph),
    ]
    await given.cancel(second)

    const stopped = await given.adapter.cancelRuns({
      runIds: [third.id, given.ids.runId(), second.id, first.id],
      cause: CANCELLED,
    })

    expect(stopped.map(({ runId }) => runId).sort()).toEqual([first.id, third.id])
  },

  'a completion in a cancelled run is recorded, and hands nothing back': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.cancel(run)

    const late = await worker.settle([completed(claim)], 10)

    expect(late).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect((await run.statuses())['a']).toBe('completed')
    expect(await worker.take()).toEqual([])
    expect(await worker.held()).toEqual([])
  },

  'the last completion of a cancelled run does not complete it': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }))
    const worker = await given.worker()
    await worker.take()
    await given.cancel(run)

    await worker.complete(run, 'a')

    expect(await run.status()).toBe('compensating')
  },

  'a failure in a cancelled run is recorded, and the cause stays the cancellation': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.cancel(run)

    const { results, runs } = await worker.fail(run, 'a')

    expect(results).toEqual(['settled'])
    expect(runs).toEqual([])
    expect((await run.record()).cause).toBe(CANCELLED)
    expect((await given.drain())[0]?.stop).toBe('cancellation')
  },

  'stopping names the runs that no longer go forward': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [failing, cancelled, going] = [
      await given.start(graph),
      await given.start(graph),
      await given.start(graph),
    ]
    const worker = await given.worker()
    await worker.fail(failing, 'a')
    await given.cancel(cancelled)

    const runIds = [going, cancelled, failing].map(({ id }) => id)
    const stopping = await given.adapter.stopping({ runIds: [...runIds, given.ids.runId()] })

    expect([...stopping].sort()).toEqual([failing.id, cancelled.id])
    expect(await given.adapter.stopping({ runIds: [] })).toEqual([])
  },
}
