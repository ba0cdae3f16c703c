import { define, PermanentError, type WatchedChange } from '@belay/workflow'
import { type Adapter, ITEM_GROUP, isItem } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { changed, engines, gate } from './bench-of-engines.ts'

/** A map of so many items of which one waits for a gate, and a step after it. */
function wide(items: number, slow: number) {
  const { passed, open } = gate()
  const workflow = define('wide', { version: 1, retry: false })
    .map('each', {
      over: () => Array.from({ length: items }, (_, n) => n),
      run: async ({ item }) => {
        if (item === slow) await passed
        return item
      },
      compensate: () => {},
    })
    .step('last', { dependsOn: ['each'], run: ({ deps }) => deps.each.length })
  return { workflow, open }
}

/** A store that counts the items which it hands out. */
function counting(adapter: Adapter) {
  const read = { items: 0, most: 0 }
  const store = changed(adapter, {
    readRun: async (runId, items) => {
      const found = await adapter.readRun(runId, items)
      const count = found?.steps.filter(({ step }) => isItem(step)).length ?? 0
      read.items += count
      read.most = Math.max(read.most, count)
      return found
    },
  })
  return { store, read }
}

describe('a process that reads runs with wide maps', () => {
  it('tells watchers of every item, and reads again only those that may have changed', async () => {
    const items = 17 * ITEM_GROUP
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = wide(items, items - 1)
    const working = await worker({ workflows: [workflow], concurrency: 1_000 })
    const run = await working.run(workflow)
    const { store, read } = counting(adapter)
    const watching = engine({ adapter: store })
    await clock.advance('5s')

    const told = new Map<string, WatchedChange>()
    const watched = (async () => {
      for await (const change of watching.runs.handle(run.id).watch()) {
        if (change.type === 'step') told.set(change.step, change)
      }
    })()
    await clock.advance('2s')
    expect(read).toEqual({ items, most: 16 * ITEM_GROUP })
    expect(told.get(`each[${items - 1}]`)).toMatchObject({ status: 'running' })

    open()
    await clock.runUntil(watched)
    expect(read.items).toBeLessThanOrEqual(items + 3 * ITEM_GROUP)
    const statuses = Array.from({ length: items }, (_, n) => told.get(`each[${n}]`))
    expect(statuses.every((change) => change?.type === 'step' && change.status === 'completed')).toBe(true)
    expect(told.get('last')).toMatchObject({ output: items })
  })

  it('reads no items for the outputs of the run or of a step of it', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = wide(600, 599)
    const working = await worker({ workflows: [workflow], concurrency: 1_000 })
    const run = await working.run(workflow)
    const { store, read } = counting(adapter)
    const asking = engine({ adapter: store })
    const handle = asking.runs.handle(workflow, run.id)

    const outputs = Promise.all([handle.result(), handle.step('each'), handle.step('last')])
    await clock.advance('1s')
    open()
    const [result, each, last] = await clock.runUntil(outputs)
    expect(result).toEqual({ each, last })
    expect([each.length, last]).toEqual([600, 600])
    expect(read.items).toBe(0)
  })

  it('waits for an item, and gives a watcher the items while others wait for a step', async () => {
    const { clock, engine, worker } = engines()
    const { workflow, open } = wide(3, 2)
    const working = await worker({ workflows: [workflow] })
    const run = await working.run(workflow)
    const handle = engine().runs.handle(run.id)

    const last = handle.step('last')
    const item = handle.step('each[2]')
    const seen: string[] = []
    const watched = (async () => {
      for await (const change of handle.watch()) if (change.type === 'step') seen.push(change.step)
    })()
    await clock.advance('1s')
    expect(seen).toContain('each[2]')
    open()
    expect(await clock.runUntil(Promise.all([last, item]))).toEqual([3, 2])
    await clock.runUntil(watched)
    await expect(clock.runUntil(handle.step('each[7]'))).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('names the items that were undone', async () => {
    const { clock, engine, worker } = engines()
    const workflow = define('undone', { version: 1, retry: false })
      .map('each', { over: () => [1, 2], run: ({ item }) => item, compensate: () => {} })
      .step('last', {
        dependsOn: ['each'],
        run: () => {
          throw new PermanentError('refused')
        },
      })
    const working = await worker({ workflows: [workflow] })
    const run = await working.run(workflow)
    const result = engine().runs.handle(run.id).result()
    await expect(clock.runUntil(result)).rejects.toMatchObject({
      undo: [
        { step: 'each[0]', result: 'compensated' },
        { step: 'each[1]', result: 'compensated' },
      ],
    })
  })
})
