import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { PAIR } from '../scenario/index.ts'
import { prune } from './ended-runs.ts'

export const historyCases: Cases = {
  'pruning a run deletes its history': async (given) => {
    const run = await given.pair()
    await given.operate(run).cancel({ by: 'cy' })
    await given.undo(run)
    const before = await given.adapter.readHistory({ runId: run.id, limit: 10 })

    await prune(given.adapter, run)

    expect(before).toHaveLength(1)
    expect(await given.adapter.readHistory({ runId: run.id, limit: 10 })).toEqual([])
  },

  'every action is in its run’s history: who, when, why, and what changed': async (given) => {
    const run = await given.pair()
    const handle = given.operate(run)
    const startedAt = await given.adapter.now()

    await handle.pause({ by: 'ann', reason: 'the bank is down' })
    await given.advance(1_000)
    await handle.resume({ by: 'bob' })
    await handle.skipStep('a', { output: 1, reason: 'done by hand' })
    await handle.cancel({ by: 'cy', reason: 'enough', compensate: false })

    expect(await handle.history()).toEqual([
      {
        at: new Date(startedAt),
        action: 'pause',
        step: undefined,
        by: 'ann',
        reason: 'the bank is down',
        change: { status: { from: 'running', to: 'paused' } },
        key: undefined,
      },
      expect.objectContaining({
        at: new Date(startedAt + 1_000),
        action: 'resume',
        by: 'bob',
        reason: undefined,
        change: { status: { from: 'paused', to: 'running' } },
      }),
      expect.objectContaining({
        action: 'skip_step',
        step: 'a',
        reason: 'done by hand',
        change: {
          step: 'a',
          steps: [
            { name: 'a', from: 'ready', to: 'skipped' },
            { name: 'b', from: 'pending', to: 'ready' },
          ],
        },
      }),
      expect.objectContaining({
        action: 'cancel',
        by: 'cy',
        reason: 'enough',
        change: { compensate: false },
      }),
    ])
  },

  'after a retry, the history still contains what had stopped the run': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }))
    const worker = await given.worker()
    await worker.fail(run, 'a')
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

    await given.operate(run).retry()

    expect(await given.operate(run).history()).toMatchObject([
      {
        action: 'retry',
        change: { status: { from: 'failed', to: 'running' }, cause: { type: 'step_failed' } },
      },
    ])
  },

  'the newest entries are read, oldest first': async (given) => {
    const run = await given.pair()
    const handle = given.operate(run)
    for (const by of ['1', '2', '3']) {
      await handle.pause({ by })
      await given.advance(10)
      await handle.resume({ by })
      await given.advance(10)
    }

    const newest = await handle.history({ limit: 3 })

    expect(newest.map(({ by, action }) => `${by} ${action}`)).toEqual(['2 resume', '3 pause', '3 resume'])
  },

  'an action that was refused or changed nothing is not in the history': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [run, other] = [await given.start(graph), await given.start(graph)]
    const handle = given.operate(run)

    await handle.resume()
    await handle.skipStep('b').catch(() => {})
    await handle.retry().catch(() => {})
    await given.operate(other).pause()

    expect(await handle.history()).toEqual([])
    expect(await given.adapter.readHistory({ runId: given.ids.runId(), limit: 10 })).toEqual([])
  },
}
