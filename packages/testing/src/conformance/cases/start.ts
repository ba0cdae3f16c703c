import type { NewRun } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { DIAMOND, type Graph, PAIR, type Scenario } from '../scenario/index.ts'

export const startCases: Cases = {
  'a started run exists with all its steps: roots ready, the others waiting for what they depend on': async (
    given,
  ) => {
    const run = await given.diamond()
    const now = await given.adapter.now()

    const { run: record, steps } = await run.read()

    expect(record).toMatchObject({
      workflow: 'diamond',
      version: 1,
      status: 'running',
      key: null,
      cause: null,
    })
    expect(record.definitionId).toBe(run.graph.id)
    expect(Math.abs(record.createdAt - now)).toBeLessThan(1)
    expect(record.finishedAt).toBeNull()
    expect(steps.map(({ name, status, openDependencies }) => [name, status, openDependencies])).toEqual([
      ['a', 'ready', 0],
      ['b', 'pending', 1],
      ['c', 'pending', 1],
      ['d', 'pending', 2],
    ])
    for (const step of steps) {
      expect(step).toMatchObject({ fence: 0, failures: 0, losses: 0, workerId: null, undoOf: null })
      expect(step).toMatchObject({ output: null, error: null, startedAt: null, finishedAt: null })
    }
  },

  'results come in the order of the runs': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await given.adapter.startRuns([newRun(given, graph, { key: 'taken' })])
    const runs = ['x', 'taken', 'y', null].map((key) => newRun(given, graph, { key }))

    const started = await given.adapter.startRuns([...runs].reverse())

    expect(started.map(({ created }) => created)).toEqual([true, true, false, true])
    const created = started.filter((run) => run.created).map(({ runId }) => runId)
    expect(created).toEqual([runs[3]!.runId, runs[2]!.runId, runs[0]!.runId])
  },

  'a taken key makes no second run, and the answer describes the first': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await given.start(graph, { key: 'order:1', input: '{"first":true}' })
    const before = await given.snapshot()

    const [second] = await given.adapter.startRuns([
      newRun(given, graph, { key: 'order:1', input: '{"first":false}' }),
    ])

    expect(second).toEqual({
      runId: first.id,
      created: false,
      definitionId: graph.id,
      input: '{"first":true}',
      version: 1,
      inputHash: null,
    })
    expect(await given.snapshot()).toEqual(before)
  },

  'a key taken by a run of another version is taken': async (given) => {
    const one = await given.graph('pair', PAIR, 1)
    const two = await given.graph('pair', DIAMOND, 2)
    const first = await given.start(one, { key: 'k' })

    const [second] = await given.adapter.startRuns([newRun(given, two, { key: 'k' })])

    expect(second).toMatchObject({ runId: first.id, created: false, definitionId: one.id, version: 1 })
  },

  'whoever finds a key taken is told the hash of the input that took it': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [hashed, plain] = ['hashed', 'plain'].map((key) => newRun(given, graph, { key }))
    await given.adapter.startRuns([{ ...hashed!, inputHash: 'abc' }, plain!])

    const found = await given.adapter.startRuns(
      ['hashed', 'plain'].map((key) => ({ ...newRun(given, graph, { key }), inputHash: 'other' })),
    )

    expect(found.map(({ created, inputHash }) => [created, inputHash])).toEqual([
      [false, 'abc'],
      [false, null],
    ])
  },

  'one key twice in a batch starts one run': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = ['1', '2'].map((input) => newRun(given, graph, { key: 'k', input }))

    const [first, second] = await given.adapter.startRuns(runs)

    expect(first).toMatchObject({ runId: runs[0]!.runId, created: true, input: '1' })
    expect(second).toMatchObject({ runId: runs[0]!.runId, created: false, input: '1' })
    expect(await given.adapter.listRuns({ limit: 10 })).toHaveLength(1)
  },

  'keys belong to their workflow, an empty key is a key, and runs without one never meet': async (given) => {
    const [one, two] = [await given.graph('one', PAIR), await given.graph('two', PAIR)]
    const runs = [
      newRun(given, one, { key: '' }),
      newRun(given, two, { key: '' }),
      newRun(given, one, { key: 'ключ 🔑' }),
      newRun(given, one),
      newRun(given, one),
    ]

    const started = await given.adapter.startRuns(runs)
    const again = await given.adapter.startRuns([newRun(given, one, { key: '' })])

    expect(started.every(({ created }) => created)).toBe(true)
    expect(again[0]).toMatchObject({ runId: runs[0]!.runId, created: false })
  },

  'a key stays taken when its run has ended': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const run = await given.start(graph, { key: 'k' })
    await (await given.worker()).complete(run, 'a')

    const [second] = await given.adapter.startRuns([newRun(given, graph, { key: 'k' })])

    expect(second).toMatchObject({ runId: run.id, created: false })
    expect(await run.status()).toBe('completed')
  },

  'a start that is repeated because its answer was lost makes no second run': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = [newRun(given, graph), newRun(given, graph, { key: 'k' })]
    await given.adapter.startRuns(runs)
    const before = await given.snapshot()

    const again = await given.adapter.startRuns(runs)

    expect(again.map(({ runId, created }) => [runId, created])).toEqual(
      runs.map(({ runId }) => [runId, false]),
    )
    expect(await given.snapshot()).toEqual(before)
  },

  'a run of an unknown definition is refused, and with it its whole batch': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const good = newRun(given, graph)
    const bad = { ...newRun(given, graph), definitionId: graph.id + 1_000 }

    await expect(given.adapter.startRuns([good, bad])).rejects.toMatchObject({
      code: 'unknown_workflow',
      runId: bad.runId,
      message: expect.stringContaining(
        `Run ${bad.runId} of workflow "pair" was not started: the store has no definition ${bad.definitionId}. Save`,
      ),
    })

    expect(await given.adapter.listRuns({ limit: 10 })).toEqual([])
  },

  'an input that is no JSON starts nothing of its call': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const good = newRun(given, graph)
    const bad = { ...newRun(given, graph), input: '{' }

    await expect(given.adapter.startRuns([bad])).rejects.toMatchObject({
      code: 'invalid_input',
      runId: bad.runId,
      message: expect.stringMatching(
        /^Run \S+ of workflow "pair" was not started: the store refused its input or key: .+ Give a value that the store can keep\.$/,
      ),
    })
    await expect(given.adapter.startRuns([good, bad])).rejects.toMatchObject({
      code: 'invalid_input',
      runId: undefined,
      message: expect.stringMatching(
        /^None of 2 runs was started: the store refused an input or key of one of them: .+ Give a value that the store can keep\.$/,
      ),
    })
    expect(await given.adapter.listRuns({ limit: 10 })).toEqual([])
  },

  'a batch of 500 runs starts them all': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = Array.from({ length: 500 }, (_, n) => newRun(given, graph, { key: `k${n}` }))

    const started = await given.adapter.startRuns(runs)

    expect(started.map(({ runId }) => runId)).toEqual(runs.map(({ runId }) => runId))
    expect(await (await given.worker()).take()).toHaveLength(500)
  },

  'starting nothing returns nothing': async ({ adapter }) => {
    expect(await adapter.startRuns([])).toEqual([])
  },

  'one key started by two processes at the same moment starts one run': withSecond(async (given, second) => {
    const graph = await given.graph('pair', PAIR)
    for (let round = 0; round < 10; round += 1) {
      const runs = [1, 2].map((input) => newRun(given, graph, { key: `k${round}`, input: `${input}` }))

      const answers = await Promise.all([given.adapter.startRuns([runs[0]!]), second.startRuns([runs[1]!])])

      const [mine, theirs] = answers.map(([run]) => run!)
      expect([mine!.created, theirs!.created].sort()).toEqual([false, true])
      expect(theirs!.runId).toBe(mine!.runId)
      expect(theirs!.input).toBe(mine!.input)
    }
    expect(await given.adapter.listRuns({ limit: 100 })).toHaveLength(10)
  }),

  'two processes starting the same keys in opposite order both end': withSecond(async (given, second) => {
    const graph = await given.graph('pair', PAIR)
    const keys = Array.from({ length: 50 }, (_, n) => `k${n}`)
    const batch = (order: readonly string[]) => order.map((key) => newRun(given, graph, { key }))

    const [mine, theirs] = await Promise.all([
      given.adapter.startRuns(batch(keys)),
      second.startRuns(batch([...keys].reverse())),
    ])

    const ids = mine.map(({ runId }) => runId)
    expect([...theirs].reverse().map(({ runId }) => runId)).toEqual(ids)
    expect(new Set(ids).size).toBe(50)
  }),
}

function newRun(given: Scenario, graph: Graph, { key = null, input = '1' }: Partial<NewRun> = {}): NewRun {
  return { runId: given.ids.runId(), definitionId: graph.id, workflow: graph.name, key, input }
}
