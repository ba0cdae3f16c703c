import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { PAIR } from '../scenario/index.ts'
import { expand, mapped } from './mapped-run.ts'

export const readyCases: Cases = {
  'nothing is ready in an empty store': async ({ adapter }) => {
    const { at, ...ready } = await adapter.countReady({ max: 10 })

    expect(at).toBeCloseTo(await adapter.now(), -4)
    expect(ready).toEqual({ steps: 0, capped: false, oldestDueAt: null })
  },

  'steps that could be claimed now are ready: none that is held, paused, or not due yet': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const held = await given.start(graph)
    const worker = await given.worker()
    await worker.claimOf(held, 'a')
    const [paused, oldest] = [await given.start(graph), await given.start(graph)]
    await given.operate(paused).pause()
    const dueAt = await given.adapter.now()
    await given.advance(5_000)
    await given.start(graph)
    await given.start(graph, { startDelayMs: 60_000 })

    const ready = await given.adapter.countReady({ max: 10 })

    expect(ready).toMatchObject({ steps: 2, capped: false })
    expect(oldest.id).not.toBe(held.id)
    expect(Math.abs(ready.oldestDueAt! - dueAt)).toBeLessThan(4_000)
    expect(ready.at - ready.oldestDueAt!).toBeGreaterThanOrEqual(5_000 - 1)
  },

  'the count of ready steps ends at its limit and says so': async (given) => {
    const graph = await given.graph('pair', PAIR)
    for (let n = 0; n < 4; n += 1) await given.start(graph)

    expect(await given.adapter.countReady({ max: 3 })).toMatchObject({ steps: 3, capped: true })
    expect(await given.adapter.countReady({ max: 4 })).toMatchObject({ steps: 4, capped: false })
  },

  'an undo that could be claimed is ready, and is due since it was queued, not since its place': async (
    given,
  ) => {
    const run = await given.pair()
    await (await given.worker()).complete(run, 'a')
    await given.cancel(run)
    expect(await given.adapter.countReady({ max: 10 })).toMatchObject({ steps: 0, oldestDueAt: null })
    await given.undo(run)

    const { at, steps, oldestDueAt } = await given.adapter.countReady({ max: 10 })

    expect(steps).toBe(1)
    expect(Math.abs(at - oldestDueAt!)).toBeLessThan(30_000)
  },

  'each ready item of a map counts': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 150)
    const leased = (await worker.held()).length

    expect(await given.adapter.countReady({ max: 200 })).toMatchObject({ steps: 150 - leased, capped: false })
    expect(await given.adapter.countReady({ max: 100 })).toMatchObject({ steps: 100, capped: true })
  },
}
