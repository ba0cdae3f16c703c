import { createEngine, define, type WatchedChange } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/index.ts'

/** A run of two maps, of five and three items; an item of the first takes as many times ten milliseconds as its number. */
async function started() {
  const adapter = memory()
  const workflow = define('rows', { version: 1 })
    .map('load', {
      over: () => [1, 2, 3, 4, 5],
      itemKey: (n) => `k${n}`,
      run: async ({ item }) => {
        await new Promise<void>((resolve) => void adapter.clock.after(item * 10_000, resolve))
        return item
      },
    })
    .map('store', { dependsOn: ['load'], over: ({ deps }) => deps.load.slice(2), run: ({ item }) => item })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow)
  const after = (ms: number) =>
    adapter.clock.runUntil(new Promise<void>((resolve) => void adapter.clock.after(ms, resolve)))
  return { adapter, engine, run, after, close: () => adapter.clock.runUntil(engine.close()) }
}

describe('reading a run with maps', () => {
  it('counts the items of each map, and reads them in pages', async () => {
    const { adapter, engine, run, close } = await started()
    await adapter.clock.runUntil(run.result())
    const names = async (items: object) =>
      (await engine.runs.get(run.id, { items }))!.steps.slice(4).map(({ name }) => name)

    const state = { items: 5, ended: 5, statuses: { completed: 5 } }
    expect((await run.status()).maps).toEqual({
      load: state,
      store: { items: 3, ended: 3, statuses: { completed: 3 } },
    })
    expect((await engine.runs.get(run.id, { items: { limit: 0 } }))!.maps).toMatchObject({ load: state })
    expect(await names({})).toHaveLength(8)
    expect(await names({ limit: 6 })).toEqual([
      'load[k1]',
      'load[k2]',
      'load[k3]',
      'load[k4]',
      'load[k5]',
      'store[0]',
    ])
    expect(await names({ of: 'load', limit: 2 })).toEqual(['load[k1]', 'load[k2]'])
    expect(await names({ of: 'load', after: 1, limit: 2 })).toEqual(['load[k3]', 'load[k4]'])
    expect(await names({ of: 'load', after: 4 })).toEqual([])
    expect(await names({ of: 'store' })).toEqual(['store[0]', 'store[1]', 'store[2]'])
    await close()
  })

  it('shows how far a map is, without its handler telling it', async () => {
    const { engine, run, after, close } = await started()
    await after(25_000)
    const { maps, steps } = (await engine.runs.get(run.id, { items: { limit: 0 } }))!
    expect(maps['load']).toEqual({ items: 5, ended: 2, statuses: { completed: 2, running: 3 } })
    expect(maps['store']).toEqual({ items: 0, ended: 0, statuses: {} })
    expect(steps.find(({ name }) => name === 'load')!.progress).toMatchObject({ done: 2, total: 5 })
    expect(steps.find(({ name }) => name === 'store')!.progress).toBeUndefined()
    await close()
  })

  it('tells watchers how far a map is', async () => {
    const { adapter, run, close } = await started()
    const told: WatchedChange[] = []
    const watching = (async () => {
      for await (const change of run.watch()) told.push(change as WatchedChange)
    })()
    await adapter.clock.runUntil(watching)
    const progress = told.flatMap((change) =>
      change.type === 'progress' && change.step === 'load' ? [`${change.done}/${change.total}`] : [],
    )
    expect(progress.at(-1)).toBe('5/5')
    expect(progress).toContain('2/5')
    await close()
  })

  it.each([
    [{ after: 3 }, /after needs of/],
    [{ of: 'lod' }, /has no step "lod"\. Did you mean "load"\?/],
    [{ limit: 10_001 }, /limit/],
    [{ page: 3 }, /page/],
  ])('refuses the page %j', async (items, message) => {
    const { engine, run, close } = await started()
    await expect(engine.runs.get(run.id, { items: items as object })).rejects.toThrow(message)
    await close()
  })
})
