import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, DIAMOND, PAIR, type Scenario } from '../scenario/index.ts'

export const readingCases: Cases = {
  'reading an unknown run answers null': async ({ adapter, ids }) => {
    expect(await adapter.readRun(ids.runId())).toBeNull()
  },

  'a run is read with its steps in the order of their numbers': async (given) => {
    const run = await given.start(await given.graph('diamond', DIAMOND, 7), { key: 'k', input: '[1]' })
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.complete(run, 'c')

    const { run: record, steps } = await run.read()

    expect(record).toMatchObject({ runId: run.id, workflow: 'diamond', version: 7, key: 'k', input: '[1]' })
    expect(steps.map(({ step, name }) => [step, name])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [3, 'd'],
    ])
  },

  'statuses of several runs are read, and unknown runs are omitted': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [one, two] = [await given.start(graph), await given.start(graph)]
    await (await given.worker()).complete(one, 'a')

    const statuses = await given.adapter.readStatuses([two.id, given.ids.runId(), one.id])

    expect([...statuses].sort((first, second) => (first.runId < second.runId ? -1 : 1))).toEqual([
      { runId: one.id, status: 'completed' },
      { runId: two.id, status: 'running' },
    ])
    expect(await given.adapter.readStatuses([])).toEqual([])
  },

  'results of several runs are read: of each that has completed, what its steps gave in order': async (
    given,
  ) => {
    const graph = await given.graph('pair', PAIR)
    const runs = [await given.start(graph), await given.start(graph), await given.start(graph)] as const
    const [done, open, stopped] = runs
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(done, 'a'), '{"x":1}')])
    await worker.settle([completed(await worker.claimOf(done, 'b'), 'null')])
    await worker.complete(open, 'a')
    await worker.fail(stopped, 'a')
    await given.undo(stopped)
    const ids = [stopped.id, open.id, given.ids.runId(), done.id]

    const gave = { status: 'completed', branch: null, error: null }
    const result = {
      runId: done.id,
      definitionId: graph.id,
      steps: [
        { ...gave, step: 0, output: '{"x":1}' },
        { ...gave, step: 1, output: 'null' },
      ],
    }
    expect(await given.adapter.readResults([...ids, done.id])).toEqual([result])
    expect(await given.adapter.readResults([])).toEqual([])

    await worker.complete(open, 'b')
    const read = await given.adapter.readResults(ids)
    expect(read.map(({ runId }) => runId).sort()).toEqual([open.id, done.id].sort())
  },

  'runs are listed newest first, up to the limit': async (given) => {
    const { ids } = await fiveRuns(given)
    const list = await given.adapter.listRuns({ limit: 3 })
    expect(list.map(({ runId }) => runId)).toEqual([...ids].reverse().slice(0, 3))
  },

  'a list is paged by the last run id of the previous page': async (given) => {
    const { ids } = await fiveRuns(given)
    const pages: string[][] = []
    for (let before: string | undefined; pages.length < 10; before = pages.at(-1)!.at(-1)) {
      const page = await given.adapter.listRuns({ limit: 2, before })
      if (page.length === 0) break
      pages.push(page.map(({ runId }) => runId))
    }
    expect(pages.flat()).toEqual([...ids].reverse())
  },

  'a list is narrowed by workflow, status and key, one by one and together': async (given) => {
    const { ids } = await fiveRuns(given)
    const find = async (filter: Omit<Parameters<typeof given.adapter.listRuns>[0], 'limit'>) =>
      (await given.adapter.listRuns({ ...filter, limit: 10 })).map(({ runId }) => ids.indexOf(runId))

    expect(await find({ workflow: ['one'] })).toEqual([4, 2, 0])
    expect(await find({ status: ['completed'] })).toEqual([1, 0])
    expect(await find({ status: ['completed', 'compensating'] })).toEqual([2, 1, 0])
    expect(await find({ key: 'k' })).toEqual([4, 3])
    expect(await find({ workflow: ['one'], key: 'k' })).toEqual([4])
    expect(await find({ workflow: ['one'], status: ['running'], before: ids[4] })).toEqual([])
    expect(await find({ workflow: ['other'] })).toEqual([])
  },

  'a listed run is the same as a run read alone': async (given) => {
    const run = await given.start(await given.graph('pair', PAIR), { key: 'k' })
    await (await given.worker()).fail(run, 'a')
    expect(await given.adapter.listRuns({ limit: 1 })).toEqual([await run.record()])
  },

  'a record that was read does not change later': async (given) => {
    const run = await given.pair()
    const before = await run.read()
    const copy = structuredClone(before)
    await (await given.worker()).complete(run, 'a')
    expect(before).toEqual(copy)
  },
}

/** Five runs of two workflows, oldest first: two completed, one stopped, two running under one key. */
async function fiveRuns(given: Scenario): Promise<{ readonly ids: readonly string[] }> {
  const [one, two] = [await given.graph('one', { a: [] }), await given.graph('two', { a: [] })]
  const runs = [await given.start(one), await given.start(two), await given.start(one)]
  const worker = await given.worker()
  await worker.complete(runs[0]!, 'a')
  await worker.complete(runs[1]!, 'a')
  await given.cancel(runs[2]!)
  runs.push(await given.start(two, { key: 'k' }), await given.start(one, { key: 'k' }))
  return { ids: runs.map(({ id }) => id) }
}
