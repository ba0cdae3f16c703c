import type { RunConditions, RunCount } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import type { CaseRun, Scenario } from '../scenario/index.ts'
import { failedRun, single } from './ended-runs.ts'

export const findingCases: Cases = {
  'runs are found by creation time: from an instant on, and before an instant': async (given) => {
    const { ids, createdAt } = await anHourApart(given)
    const [first, second, third] = createdAt as [number, number, number]

    expect(await found(given, ids, { createdAfter: second })).toEqual([2, 1])
    expect(await found(given, ids, { createdBefore: second })).toEqual([0])
    expect(await found(given, ids, { createdAfter: first, createdBefore: third })).toEqual([1, 0])
    expect(await found(given, ids, { createdAfter: first + 1, createdBefore: second })).toEqual([])
    expect(await found(given, ids, { workflow: ['single'], createdAfter: second })).toEqual([2, 1])
    expect(await found(given, ids, { workflow: ['other'], createdAfter: second })).toEqual([])
  },

  'a run is found by when the store created it, whatever time its id contains': async (given) => {
    const graph = await single(given)
    const [past, now, future, none] = [
      '00000000-0001-7000-8000-000000000000',
      idOf(await given.adapter.now()),
      'ffffffff-fff0-7000-8000-000000000000',
      'b0b5a7e9-4c9e-4d6a-9d2f-0a51f2f6e1d3',
    ]
    for (const runId of [past, now, future, none]) {
      await given.adapter.startRuns([
        { runId, definitionId: graph.id, workflow: graph.name, key: null, input: '1' },
      ])
    }
    const at = await given.adapter.now()
    const find = async (filter: RunConditions) =>
      (await given.adapter.listRuns({ ...filter, limit: 10 })).map(({ runId }) => runId)

    const newestFirst = [future, none, now, past]
    const range = { createdAfter: at - 60_000, createdBefore: at + 60_000 }
    expect(await find(range)).toEqual(newestFirst)
    expect(await find({ ...range, workflow: ['single'], status: ['running'] })).toEqual(newestFirst)
    expect(await find({ createdBefore: at - 60_000 })).toEqual([])
    expect(await find({ createdAfter: at + 60_000 })).toEqual([])
    expect(await count(given, range)).toEqual({ status: null, count: 4, capped: false })
    const page = await given.adapter.listRuns({ ...range, limit: 2, before: none })
    expect(page.map(({ runId }) => runId)).toEqual([now, past])
  },

  'runs are found by when they ended; runs that have not ended are not found': async (given) => {
    const { ids, runs } = await anHourApart(given)
    const worker = await given.worker()
    // The run that began last ends first.
    for (const run of [runs[2]!, runs[0]!]) {
      await worker.complete(run, 'a')
      await given.advance(1_000)
    }
    const [first, , last] = await finishedAt(runs)

    expect(await found(given, ids, { finishedAfter: last! })).toEqual([2, 0])
    expect(await found(given, ids, { finishedAfter: last! + 1 })).toEqual([0])
    expect(await found(given, ids, { finishedBefore: first! })).toEqual([2])
    expect(await found(given, ids, { finishedBefore: first! + 1 })).toEqual([2, 0])
    expect(await found(given, ids, { finishedAfter: last!, finishedBefore: first! })).toEqual([2])
  },

  'all conditions apply together, and each page begins where the last one ended': async (given) => {
    const { ids, createdAt } = await anHourApart(given, 'a', 'b')
    const filter = {
      tags: ['a'],
      createdAfter: createdAt[1]!,
      workflow: ['single', 'none'],
      status: ['running'],
    } as const

    expect(await found(given, ids, filter)).toEqual([2, 1])
    expect(await found(given, ids, { ...filter, tags: ['a', 'c'] })).toEqual([])
    expect(await found(given, ids, { ...filter, status: ['completed'] })).toEqual([])
    expect(await found(given, ids, { ...filter, key: 'run 1' })).toEqual([1])
    expect(await found(given, ids, { key: 'run 1', tags: ['c'] })).toEqual([])
    expect(await found(given, ids, { key: 'run 1', createdBefore: createdAt[1]! })).toEqual([])
    expect(await found(given, ids, { key: 'run 1', finishedAfter: createdAt[0]! })).toEqual([])
    const page = await given.adapter.listRuns({ ...filter, limit: 1, before: ids[2]! })
    expect(page.map(({ runId }) => runId)).toEqual([ids[1]])
  },

  'runs of several workflows are found newest first': async (given) => {
    const [one, two, three] = [
      await given.graph('one', { a: [] }),
      await given.graph('two', { a: [] }),
      await given.graph('three', { a: [] }),
    ]
    const ids: string[] = []
    for (const graph of [one, two, three, two, one]) ids.push((await given.start(graph)).id)

    expect(await found(given, ids, { workflow: ['one', 'two'] })).toEqual([4, 3, 1, 0])
    expect(await found(given, ids, { workflow: ['two', 'three', 'two', 'none'] })).toEqual([3, 2, 1])
  },

  'runs are counted up to a limit, and the answer says whether there are more': async (given) => {
    const { createdAt } = await anHourApart(given, 'a')

    expect(await count(given, {})).toEqual({ status: null, count: 3, capped: false })
    expect(await count(given, {}, 3)).toEqual({ status: null, count: 3, capped: false })
    expect(await count(given, {}, 2)).toEqual({ status: null, count: 2, capped: true })
    expect(await count(given, { createdAfter: createdAt[1]! })).toMatchObject({ count: 2 })
    expect(await count(given, { tags: ['a'] }, 2)).toEqual({ status: null, count: 2, capped: true })
    expect(await count(given, { tags: ['b'] })).toEqual({ status: null, count: 0, capped: false })
    expect(await count(given, { workflow: ['single'], status: ['running'] }, 1)).toMatchObject({
      capped: true,
    })
    expect(await count(given, { key: 'run 0' })).toMatchObject({ count: 1, capped: false })
    expect(await count(given, { status: ['waiting', 'completed'] })).toMatchObject({ count: 0 })
  },

  'runs are counted by the status they are shown with': async (given) => {
    const graph = await single(given)
    const started = await given.start(graph, { tags: ['a'] })
    await (await given.worker()).complete(started, 'a')
    await given.start(graph, { startDelayMs: 3_600_000, tags: ['a'] })
    await failedRun(given, graph)
    await failedRun(given, graph)

    expect(await countByStatus(given, {})).toEqual({ completed: 1, failed: 2, scheduled: 1 })
    expect(await countByStatus(given, { tags: ['a'] })).toEqual({ completed: 1, scheduled: 1 })
    expect(await countByStatus(given, { workflow: ['single'], status: ['failed', 'scheduled'] })).toEqual({
      failed: 2,
      scheduled: 1,
    })
    expect(await countByStatus(given, { workflow: ['none'] })).toEqual({})
    const capped = await given.adapter.countRuns({ max: 1, byStatus: true })
    expect(capped.find(({ status }) => status === 'failed')).toEqual({
      status: 'failed',
      count: 1,
      capped: true,
    })
    expect(capped.find(({ status }) => status === 'completed')).toMatchObject({ count: 1, capped: false })
  },

  'beyond the limit, a run that has not begun is counted only if it is among the newest': async (given) => {
    const graph = await single(given)
    await given.start(graph, { startDelayMs: 3_600_000 })
    await given.start(graph)
    await given.start(graph)

    expect(await given.adapter.countRuns({ max: 2, byStatus: true })).toEqual([
      { status: 'running', count: 2, capped: true },
    ])
    expect(await given.adapter.countRuns({ max: 3, byStatus: true })).toHaveLength(2)
  },
}

/** Three runs, oldest first, created one hour apart. */
async function anHourApart(given: Scenario, ...tags: readonly string[]) {
  const graph = await single(given)
  const runs: CaseRun[] = []
  for (let n = 0; n < 3; n += 1) {
    runs.push(await given.start(graph, { key: `run ${n}`, ...(tags.length > 0 ? { tags } : {}) }))
    await given.advance(3_600_000)
  }
  const createdAt = await Promise.all(runs.map(async (run) => (await run.record()).createdAt))
  return { runs, ids: runs.map(({ id }) => id), createdAt }
}

async function finishedAt(runs: readonly CaseRun[]): Promise<readonly (number | null)[]> {
  return Promise.all(runs.map(async (run) => (await run.record()).finishedAt))
}

/** The positions of the found runs in this list of ids. */
export async function found(
  { adapter }: Scenario,
  ids: readonly string[],
  filter: RunConditions,
): Promise<readonly number[]> {
  return (await adapter.listRuns({ ...filter, limit: 100 })).map(({ runId }) => ids.indexOf(runId))
}

export async function count({ adapter }: Scenario, conditions: RunConditions, max = 100): Promise<RunCount> {
  const [counted] = await adapter.countRuns({ ...conditions, max, byStatus: false })
  return counted!
}

async function countByStatus({ adapter }: Scenario, conditions: RunConditions) {
  const counts = await adapter.countRuns({ ...conditions, max: 100, byStatus: true })
  return Object.fromEntries(counts.map(({ status, count }) => [status, count]))
}

/** A time-ordered id of this millisecond. */
function idOf(epochMs: number): string {
  const hex = Math.floor(epochMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
