import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed } from '../scenario/index.ts'
import { withoutInput } from '../scenario/worker.ts'
import { AFTER, expand, expanded, item, JOIN, MAP, mapped, statusesOf } from './mapped-run.ts'

export const itemCases: Cases = {
  'a worker with room is leased the first items of its map, and with each it completes the next': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    const first = await worker.settle([expanded(await worker.claimOf(run, 'm[]'), 5, 3)], 2)
    expect(first.claims.map(withoutInput)).toMatchObject([
      { step: item(0), fence: 1, round: 1, attempt: 1 },
      { step: item(1), fence: 1, round: 1, attempt: 1 },
    ])
    expect(first.queued).toBe(true)
    expect(statusesOf(await run.read())).toEqual({ running: 2, ready: 1, pending: 2 })
    const next = await worker.settle([completed(first.claims[0]!), completed(first.claims[1]!)], 10)
    expect(next.claims.map(({ step }) => step)).toEqual([item(3), item(4)])
    expect(next.queued).toBe(false)
    expect((await worker.held()).map(({ step }) => step)).toEqual([item(3), item(4)])
    const [queued] = await worker.take()
    await worker.settle([completed(next.claims[0]!), completed(next.claims[1]!)])
    const last = await worker.settle([completed(queued!)], 10)
    expect(last.claims).toMatchObject([{ step: JOIN }])
  },

  'a worker with room is leased the join of a map without items': async (given) => {
    const { run, worker } = await mapped(given)
    const { claims, queued } = await worker.settle([expanded(await worker.claimOf(run, 'm[]'), 0)], 1)
    expect(claims).toMatchObject([{ step: JOIN, fence: 1, attempt: 1 }])
    expect(queued).toBe(false)
    await worker.settle([completed(claims[0]!, '[]')])
    expect(await run.statuses()).toMatchObject({ m: 'completed', after: 'ready' })
  },

  'a part of a run has only the items that were asked for, and counts all': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 5, 2)
    const [first] = await worker.take()
    await worker.settle([completed(first!)])
    const read = (after: number, before: number, limit: number) =>
      given.adapter.readRun(run.id, { after, before, limit })

    const part = await read(item(0), item(9), 2)
    const whole = await run.read()
    expect(part!.steps).toEqual([
      ...whole.steps.slice(0, AFTER + 1),
      ...whole.steps.slice(AFTER + 2, AFTER + 4),
    ])
    expect(part!.run).toEqual(whole.run)
    const { finishedAt } = whole.steps[AFTER + 1]!
    expect(part!.itemCounts).toEqual([
      { map: MAP, status: 'completed', count: 1, finishedAt },
      { map: MAP, status: 'pending', count: 2, finishedAt: null },
      { map: MAP, status: 'ready', count: 1, finishedAt: null },
      { map: MAP, status: 'running', count: 1, finishedAt: null },
    ])
    expect((await read(0, item(1), 9))!.steps.slice(AFTER + 1).map(({ name }) => name)).toEqual(['m[k0]'])
    expect((await read(0, 2 ** 31 - 1, 0))!.steps).toHaveLength(AFTER + 1)
    expect(whole.itemCounts).toBeUndefined()
  },
}
