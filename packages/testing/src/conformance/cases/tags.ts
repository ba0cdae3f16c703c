import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { type Graph, PAIR, type Scenario } from '../scenario/index.ts'

// Texts that must be quoted in an SQL array or in JSON.
const HARD_TO_QUOTE = ['a,b', '{a}', '"', '\\', '\\"', 'NULL', ' ', "it's", 'line\nbreak', 'ünïcödé 🎉', '%_']

export const tagCases: Cases = {
  'a run keeps its tags in the given order, and may have none': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const tagged = await given.start(graph, { tags: ['tenant:7', 'env:prod'], key: 'k' })
    const plain = await given.start(graph)

    expect((await tagged.record()).tags).toEqual(['tenant:7', 'env:prod'])
    expect((await plain.record()).tags).toEqual([])
    expect((await given.adapter.listRuns({ limit: 2 })).map(({ tags }) => tags)).toEqual([
      [],
      ['tenant:7', 'env:prod'],
    ])
    expect(await given.adapter.findRun({ runId: tagged.id })).toMatchObject({
      tags: ['tenant:7', 'env:prod'],
    })
    expect(await given.adapter.findRun({ workflow: 'pair', key: 'k' })).toMatchObject({
      tags: ['tenant:7', 'env:prod'],
    })
    expect(await given.adapter.findRun({ runId: plain.id })).toMatchObject({ tags: [] })
  },

  'any text can be a tag, and finds only its own run': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { tags: HARD_TO_QUOTE })
    const others = await startTagged(
      given,
      graph,
      HARD_TO_QUOTE.map((tag) => [`${tag}x`]),
    )

    expect((await run.record()).tags).toEqual(HARD_TO_QUOTE)
    for (const tag of HARD_TO_QUOTE) expect(await tagged(given, tag), tag).toEqual([run.id])
    expect(await tagged(given, ',x')).toEqual([])
    expect(await tagged(given, '{a}x')).toEqual([others[1]])
  },

  'runs of one call have their own tags, and some have none': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const ids = await startTagged(given, graph, [['a', 'b'], undefined, ['b'], undefined])

    expect(await tagged(given, 'a')).toEqual([ids[0]])
    expect(await tagged(given, 'b')).toEqual([ids[2], ids[0]])
  },

  'a run is found by tags when it has all of them': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [both, one] = await startTagged(given, graph, [['a', 'b', 'c'], ['a']])

    expect(await tagged(given, 'a')).toEqual([one, both])
    expect(await tagged(given, 'b', 'a')).toEqual([both])
    expect(await tagged(given, 'a', 'd')).toEqual([])
  },

  'a taken key keeps the tags with which its run was started': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { key: 'k', tags: ['first'] })

    const again = await given.start(graph, { key: 'k', tags: ['second'] })

    expect(await given.adapter.readRun(again.id)).toBeNull()
    expect((await run.record()).tags).toEqual(['first'])
    expect(await tagged(given, 'second')).toEqual([])
  },

  'a run that is started in a transaction has its tags once that commits': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runId = given.ids.runId()
    const run = { runId, definitionId: graph.id, workflow: graph.name, key: 'k', input: '1', tags: ['a'] }

    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns([run], { tx })
      expect(await given.adapter.findRun({ runId }, { tx })).toMatchObject({ tags: ['a'] })
    })

    expect(await tagged(given, 'a')).toEqual([runId])
  },

  'a run keeps its tags when its status changes': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }), { tags: ['a', 'b'] })
    await (await given.worker()).complete(run, 'a')

    expect(await run.record()).toMatchObject({ status: 'completed', tags: ['a', 'b'] })
    expect(await tagged(given, 'b')).toEqual([run.id])
  },
}

async function startTagged(
  { adapter, ids }: Scenario,
  graph: Graph,
  tagsOfRuns: readonly (readonly string[] | undefined)[],
): Promise<readonly string[]> {
  const runs = tagsOfRuns.map((tags) => ({
    ...{ runId: ids.runId(), definitionId: graph.id, workflow: graph.name, key: null, input: '1' },
    ...(tags === undefined ? {} : { tags }),
  }))
  await adapter.startRuns(runs)
  return runs.map(({ runId }) => runId)
}

async function tagged({ adapter }: Scenario, ...tags: readonly string[]): Promise<readonly string[]> {
  return (await adapter.listRuns({ tags, limit: 100 })).map(({ runId }) => runId)
}
