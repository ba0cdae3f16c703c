import { isItem, type RunConditions } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, DIAMOND } from '../scenario/index.ts'
import { single } from './ended-runs.ts'
import { count, found } from './finding.ts'
import { expand, MAP, mapped } from './mapped-run.ts'

export const listingCases: Cases = {
  'runs are found by their version': async (given) => {
    const ids: string[] = []
    for (const version of [1, 2, 1]) {
      ids.push((await given.start(await given.graph('single', { a: [] }, version))).id)
    }
    ids.push((await given.start(await given.graph('other', { a: [] }, 2))).id)

    expect(await found(given, ids, { version: 1 })).toEqual([2, 0])
    expect(await found(given, ids, { version: 2 })).toEqual([3, 1])
    expect(await found(given, ids, { version: 2, workflow: ['single'], status: ['running'] })).toEqual([1])
    expect(await found(given, ids, { version: 3 })).toEqual([])
    expect(await count(given, { version: 1 })).toMatchObject({ count: 2 })
  },

  'runs are found by how their ids begin, alone and with other conditions': async (given) => {
    const graph = await single(given)
    const ids = [
      '0192abc0-0000-7000-8000-000000000000',
      '0192abcd-1111-7000-8000-000000000000',
      '0192abcd-2222-7000-8000-000000000000',
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
    ]
    for (const runId of ids) {
      await given.adapter.startRuns([
        {
          runId,
          definitionId: graph.id,
          workflow: graph.name,
          key: runId.slice(0, 13),
          input: '1',
          tags: ['a'],
        },
      ])
    }
    const createdAfter = (await given.adapter.now()) - 60_000
    for (const others of [
      {},
      { workflow: ['single'] },
      { status: ['running'] },
      { workflow: ['single'], status: ['running'] },
      { tags: ['a'] },
      { createdAfter },
    ] as const) {
      expect(await found(given, ids, { ...others, idPrefix: '0192abcd' })).toEqual([2, 1])
      expect(await found(given, ids, { ...others, idPrefix: '0192abc' })).toEqual([2, 1, 0])
      expect(await found(given, ids, { ...others, idPrefix: '0192abcd2' })).toEqual([2])
      expect(await found(given, ids, { ...others, idPrefix: ids[1]!.replaceAll('-', '') })).toEqual([1])
      expect(await found(given, ids, { ...others, idPrefix: 'f' })).toEqual([3])
      expect(await found(given, ids, { ...others, idPrefix: '0193' })).toEqual([])
    }
    expect(await found(given, ids, { key: '0192abcd-1111', idPrefix: '0192abcd' })).toEqual([1])
    expect(await found(given, ids, { key: '0192abcd-1111', idPrefix: '0192abc0' })).toEqual([])
    expect(await count(given, { idPrefix: '0192abcd' })).toMatchObject({ count: 2 })
  },

  'runs are found by how their keys begin, alone and with other conditions': async (given) => {
    const [one, two] = [await given.graph('one', { a: [] }), await given.graph('two', { a: [] })]
    const keys = ['order:91', 'order:910', 'order_91', 'Order:91', 'order:91%', 'order\\91', 'ordér:91']
    const ids: string[] = []
    for (const key of keys) ids.push((await given.start(one, { key, tags: ['a'] })).id)
    ids.push((await given.start(two, { key: 'order:91' })).id)
    ids.push((await given.start(one)).id)

    expect(await found(given, ids, { keyPrefix: 'order:91' })).toEqual([7, 4, 1, 0])
    expect(await found(given, ids, { keyPrefix: 'order' })).toEqual([7, 5, 4, 2, 1, 0])
    expect(await found(given, ids, { keyPrefix: 'order_' })).toEqual([2])
    expect(await found(given, ids, { keyPrefix: 'order:91%' })).toEqual([4])
    expect(await found(given, ids, { keyPrefix: 'order\\' })).toEqual([5])
    expect(await found(given, ids, { keyPrefix: 'ordé' })).toEqual([6])
    expect(await found(given, ids, { keyPrefix: 'order:92' })).toEqual([])
    const createdAfter = (await given.adapter.now()) - 60_000
    for (const others of [
      { workflow: ['one'] },
      { status: ['running'], workflow: ['one'] },
      { tags: ['a'] },
      { createdAfter, workflow: ['one'] },
    ] as const) {
      expect(await found(given, ids, { ...others, keyPrefix: 'order:' })).toEqual([4, 1, 0])
    }
    expect(await found(given, ids, { key: 'order:910', keyPrefix: 'order:91' })).toEqual([1])
    expect(await found(given, ids, { key: 'order:910', keyPrefix: 'order:92' })).toEqual([])
    expect(await count(given, { keyPrefix: 'order:91' })).toMatchObject({ count: 4 })
    const page = await given.adapter.listRuns({ keyPrefix: 'order:91', before: ids[7]!, limit: 2 })
    expect(page.map(({ runId }) => ids.indexOf(runId))).toEqual([4, 1])
  },

  'a page of newer runs ends just above its bound, newest first': async (given) => {
    const [one, two] = [await given.graph('one', { a: [] }), await given.graph('two', { a: [] })]
    const ids: string[] = []
    for (const graph of [one, two, one, two, one]) {
      ids.push((await given.start(graph, { tags: ['a'] })).id)
    }
    const createdAfter = (await given.adapter.now()) - 60_000
    const newer = async (after: number, limit: number, filter: RunConditions = {}) =>
      (await given.adapter.listRuns({ ...filter, after: ids[after]!, limit })).map(({ runId }) =>
        ids.indexOf(runId),
      )

    for (const filter of [
      {},
      { status: ['running'] },
      { workflow: ['one', 'two'], status: ['running', 'failed'] },
      { tags: ['a'] },
      { createdAfter },
      { idPrefix: ids[0]!.slice(0, 2) },
    ] as const) {
      expect(await newer(0, 2, filter)).toEqual([2, 1])
      expect(await newer(2, 2, filter)).toEqual([4, 3])
      expect(await newer(3, 2, filter)).toEqual([4])
      expect(await newer(4, 2, filter)).toEqual([])
    }
    expect(await newer(0, 2, { workflow: ['one'] })).toEqual([4, 2])
    expect(await newer(0, 1, { workflow: ['one'], createdAfter })).toEqual([2])
  },

  'a list tells the state of each step, and counts the items of maps': async (given) => {
    const diamond = await given.start(await given.graph('diamond', DIAMOND))
    const { run, worker } = await mapped(given)
    await worker.complete(diamond, 'a')
    await worker.complete(diamond, 'c')
    await expand(worker, run, 3)
    const items = (await worker.take()).filter((claim) => claim.runId === run.id && isItem(claim.step))
    await worker.settle([completed(items[1]!)])

    const [second, first] = await given.adapter.listRuns({ limit: 10, steps: true })

    expect(first!.states).toEqual({
      steps: ['completed', 'running', 'completed', 'pending'].map((status, step) => ({ step, status })),
      itemCounts: [],
    })
    const { steps, itemCounts } = second!.states!
    expect(steps.map(({ status }) => status)).toEqual(['completed', 'completed', 'pending', 'pending'])
    expect(itemCounts.map(({ map, status, count }) => [map, status, count])).toEqual([
      [MAP, 'completed', 1],
      [MAP, 'running', 2],
    ])
    expect((await given.adapter.listRuns({ limit: 1 }))[0]!.states).toBeUndefined()
  },

  'a run that is read tells when, by the clock of the store': async (given) => {
    const run = await given.start(await single(given))
    for (let turn = 0; turn < 2; turn += 1) {
      const before = await given.adapter.now()
      const [listed] = await given.adapter.listRuns({ limit: 1 })
      const read = await given.adapter.readRun(run.id)
      const after = await given.adapter.now()
      for (const { readAt } of [listed!, read!.run]) {
        expect(readAt).toBeGreaterThanOrEqual(Math.floor(before))
        expect(readAt).toBeLessThanOrEqual(Math.ceil(after))
      }
      await given.advance(3_600_000)
    }
  },
}
