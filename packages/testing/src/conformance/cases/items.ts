import { ITEM_GROUP, type ItemsThatDiffer, type ReadItems, withDiffering } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, failed } from '../scenario/index.ts'
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

  'a run is read with some items of each status, and all are counted': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 8, 2)
    const [first] = await worker.take()
    await worker.settle([completed(first!)])
    const read = (eachStatusMax: number) => given.adapter.readRun(run.id, { eachStatusMax })

    const some = await read(1)
    const all = await read(100)
    const whole = await run.read()
    const items = [0, 1, 2, 3].map((index) => whole.steps[AFTER + 1 + index]!)
    expect(items.map(({ status }) => status)).toEqual(['completed', 'running', 'ready', 'pending'])
    expect(some!.steps).toEqual([
      ...whole.steps.slice(0, AFTER + 1),
      ...items.map((item) => ({ ...item, output: null })),
    ])
    expect(some!.run).toEqual(whole.run)
    expect(some!.itemCounts).toMatchObject([
      { map: MAP, status: 'completed', count: 1 },
      { map: MAP, status: 'pending', count: 5 },
      { map: MAP, status: 'ready', count: 1 },
      { map: MAP, status: 'running', count: 1 },
    ])
    expect(all!.steps.map(({ step }) => step)).toEqual(whole.steps.map(({ step }) => step))
    expect(all!.itemCounts).toEqual(some!.itemCounts)
  },

  'a run is read without items': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 5, 2)
    const whole = await run.read()
    const { steps, ...read } = (await given.adapter.readRun(run.id, 'none'))!
    expect(steps).toEqual(whole.steps.slice(0, AFTER + 1))
    expect(read).toEqual({ run: whole.run, values: [] })
  },

  'a reader of a wide map gets the groups of items that differ from what it knows, a bounded number at a time':
    async (given) => {
      const { run, worker } = await mapped(given)
      const count = 2 * ITEM_GROUP + 1
      const firsts = [item(0), item(ITEM_GROUP), item(2 * ITEM_GROUP)]
      await expand(worker, run, count)
      const read = async (known: ReadItems, options: Partial<ItemsThatDiffer> = {}) => {
        const prints = [...known].map(([first, { print }]) => ({ first, print }))
        const asked = { known: prints, after: 0, groupsMax: 9, outputs: true, ...options }
        const { steps, differing } = (await given.adapter.readRun(run.id, asked))!
        const of = differing!.prints.map(({ first }) => first)
        return { items: withDiffering(known, steps, differing!), of, more: differing!.more, steps }
      }

      const part = await read(new Map(), { groupsMax: 2 })
      expect(part).toMatchObject({ of: firsts.slice(0, 2), more: true })
      expect(part.steps).toHaveLength(AFTER + 1 + 2 * ITEM_GROUP)
      const rest = await read(part.items, { groupsMax: 2, after: firsts[1]! })
      expect(rest).toMatchObject({ of: firsts.slice(2), more: false })
      expect(await read(rest.items)).toMatchObject({ of: [], more: false })

      const claims = await worker.take(ITEM_GROUP + 1)
      await worker.settle([completed(claims[ITEM_GROUP]!, '"o"')])
      const next = await read(rest.items, { after: firsts[0]!, outputs: false })
      expect(next).toMatchObject({ of: [firsts[1]], more: false })
      expect(next.steps.find(({ step }) => step === firsts[1])).toMatchObject({
        status: 'completed',
        output: null,
      })
      const last = await read(rest.items)
      expect(last.of).toEqual(firsts.slice(0, 2))
      const rows = [...last.items.values()].flatMap((group) => group.rows)
      expect(rows).toEqual((await run.read()).steps.slice(AFTER + 1))

      const gone = new Map([...last.items, [item(9 * ITEM_GROUP), { print: 'p', rows: [] }]])
      const { items, of } = await read(gone)
      expect(of).toEqual([item(9 * ITEM_GROUP)])
      expect(items).toEqual(last.items)
    },

  'the items of a wide map are claimed once each, in order, however many a claim takes': async (given) => {
    const { run, worker } = await mapped(given)
    const other = await given.worker()
    const first = await worker.settle([expanded(await worker.claimOf(run, 'm[]'), 300)], 3)
    expect(first).toMatchObject({ queued: true })
    const taken = [
      first.claims,
      await worker.take(40),
      await other.take(100),
      await worker.take(1),
      await other.take(1_000),
    ]
    expect(taken.map(({ length }) => length)).toEqual([3, 40, 100, 1, 156])
    expect(taken.flat().map(({ step }) => step)).toEqual(Array.from({ length: 300 }, (_, n) => item(n)))
    expect(await worker.take()).toEqual([])
    expect(await other.held()).toHaveLength(256)
  },

  'a pause keeps the items of a wide map from being claimed, and resuming lets them go on': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 200)
    expect(await worker.take(10)).toHaveLength(10)
    await given.operate(run).pause()
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    const rest = (await worker.take()).map(({ step }) => step)
    expect(rest.toSorted((one, two) => one - two)).toEqual(
      Array.from({ length: 190 }, (_, n) => item(n + 10)),
    )
  },

  'nothing of a wide map is claimed once its run has stopped': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 200)
    const [first] = await worker.take(1)
    await worker.settle([failed(first!)])
    expect(await worker.take()).toEqual([])
    expect(statusesOf(await run.read())).toEqual({ cancelled: 199, failed: 1 })
  },

  'a load reads the outputs of a map together, in the order of the items': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 3)
    const outputs = async () => {
      const request = { runId: run.id, steps: [MAP], outputsOf: [MAP, AFTER] }
      const [loaded] = await given.adapter.load([request])
      expect(loaded!.steps.map(({ output }) => output)).toEqual(['3'])
      return loaded!.outputsOf
    }
    const of = (text: string) => [
      { map: MAP, outputs: text },
      { map: AFTER, outputs: '[]' },
    ]
    expect(await outputs()).toEqual(of('[null,null,null]'))
    const [a, , c] = await worker.take()
    await worker.settle([completed(c!, '{ "n": [1] }'), completed(a!, '"a"')])
    expect(await outputs()).toEqual(of('["a",null,{ "n": [1] }]'))
    expect((await given.adapter.load([{ runId: run.id, steps: [] }]))[0]!.outputsOf).toBeUndefined()
  },
}
