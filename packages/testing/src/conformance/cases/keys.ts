import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completedRun, LATER, single } from './ended-runs.ts'

export const keyCases: Cases = {
  'a released key starts a new run; the old run stays, without its key': async (given) => {
    const graph = await single(given)
    const old = await completedRun(given, graph, 'order:1')
    const other = await completedRun(given, graph, 'order:2')

    const released = await given.adapter.releaseKeys({ runIds: [old.id], finishedBefore: LATER })
    const fresh = await given.start(graph, { key: 'order:1' })

    expect(released).toEqual([old.id])
    expect(await old.record()).toMatchObject({ status: 'completed', key: null })
    expect(await other.record()).toMatchObject({ key: 'order:2' })
    expect(await given.adapter.listRuns({ limit: 10, key: 'order:1' })).toMatchObject([{ runId: fresh.id }])
  },

  'the key of a run that has not ended, or ended after the instant, is not released': async (given) => {
    const graph = await single(given)
    const running = await given.start(graph, { key: 'running' })
    const ended = await completedRun(given, await given.graph('other', { a: [] }), 'ended')
    const endedAt = (await ended.record()).finishedAt!

    const released = await given.adapter.releaseKeys({
      runIds: [running.id, ended.id],
      finishedBefore: endedAt,
    })

    expect(released).toEqual([])
    expect(await running.record()).toMatchObject({ key: 'running' })
    expect(await ended.record()).toMatchObject({ key: 'ended' })
  },

  'releasing a key twice, or for a run without a key, does nothing': async (given) => {
    const graph = await single(given)
    const [keyed, bare] = [await completedRun(given, graph, 'k'), await completedRun(given, graph)]
    const runIds = [keyed.id, bare.id, given.ids.runId()]

    expect(await given.adapter.releaseKeys({ runIds, finishedBefore: LATER })).toEqual([keyed.id])
    expect(await given.adapter.releaseKeys({ runIds, finishedBefore: LATER })).toEqual([])
    expect(await given.adapter.releaseKeys({ runIds: [], finishedBefore: LATER })).toEqual([])
  },
}
