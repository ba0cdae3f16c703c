import type { WorkflowDefinition } from '@belay/workflow'
import type { RunEnd } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { CaseRun, type Graph, planUndo, type Scenario } from '../scenario/index.ts'
import { parkedRun, prune, single } from './ended-runs.ts'

const REPORTS = { reportsEnd: true } as const

export const runEndCases: Cases = {
  'a run that moves to a version with end steps reports its ends from then on': async (given) => {
    const old = await given.graph('moved', { a: [] }, 1)
    const { saved } = await given.graph('moved', { a: [] }, 2, {}, {}, true)
    const run = await given.start(old)
    const target = { name: 'moved', version: 2, record: saved } as unknown as WorkflowDefinition

    await given.operator().migrateRun(run.id, target)

    await given.operate(run).skipStep('a')
    const found = await given.adapter.findRunEnds({ definitionIds: [saved.id], limit: 10 })
    expect(found).toMatchObject([{ runId: run.id, status: 'completed' }])
  },

  'a run that reports its end leaves one, and other runs leave none': async (given) => {
    const graph = await single(given)
    const worker = await given.worker()
    const run = await given.start(graph, REPORTS)
    expect(await ends(given, graph)).toEqual([])
    await worker.complete(run, 'a')
    await worker.complete(await given.start(graph), 'a')

    expect(await ends(given, graph)).toEqual([
      {
        sequence: expect.stringMatching(/^[0-9]+$/),
        runId: run.id,
        definitionId: graph.id,
        workflow: 'single',
        key: null,
        status: 'completed',
        parent: null,
      },
    ])
  },

  'the settlement that ends such a run says so': async (given) => {
    const graph = await single(given)
    const worker = await given.worker()
    const run = await given.start(graph, REPORTS)
    const plain = await given.start(graph)

    expect((await worker.complete(run, 'a')).runs).toMatchObject([{ runId: run.id, reportsEnd: true }])
    expect((await worker.complete(plain, 'a')).runs[0]).not.toHaveProperty('reportsEnd')
  },

  'a failed run ends once nothing is left to undo, and a stopped one has not ended': async (given) => {
    const graph = await single(given)
    const run = await given.start(graph, REPORTS)
    await (await given.worker()).fail(run, 'a')
    expect(await ends(given, graph)).toEqual([])
    const [drained] = await given.drain({ runs: [run] })
    const [begun] = await given.adapter.beginUndo([planUndo(drained!, graph, [])])

    expect(begun).toMatchObject({ status: 'compensated', reportsEnd: true })
    expect(await ends(given, graph)).toMatchObject([{ runId: run.id, status: 'compensated' }])
  },

  'an undone run ends with its last undo': async (given) => {
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    const run = await given.start(graph, REPORTS)
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    expect(await ends(given, graph)).toEqual([])
    await worker.compensate(run, 'a')

    expect(await ends(given, graph)).toMatchObject([{ status: 'cancelled' }])
  },

  "an operator's action that ends a run leaves its end too": async (given) => {
    const run = await parkedRun(given, REPORTS)
    expect(await ends(given, run.graph)).toEqual([])
    await given.operate(run).skipCompensation('a')

    expect(await ends(given, run.graph)).toMatchObject([{ runId: run.id, status: 'cancelled' }])
  },

  'a run that is sent forward again and ends again has another end': async (given) => {
    const graph = await single(given)
    const run = await given.start(graph, REPORTS)
    const worker = await given.worker()
    await worker.fail(run, 'a')
    const [drained] = await given.drain({ runs: [run] })
    await given.adapter.beginUndo([{ runId: drained!.runId, endsAs: 'failed', undos: [] }])
    await given.operate(run).retry()
    await worker.complete(run, 'a')

    expect((await ends(given, graph)).map(({ status }) => status)).toEqual(['failed', 'completed'])
  },

  'ends are read in order, in pages, and only of the given definitions': async (given) => {
    const [graph, other] = [await single(given), await given.graph('other', { a: [] })]
    const runs: CaseRun[] = []
    for (let count = 0; count < 5; count += 1) runs.push(await completed(given, graph))
    await completed(given, other)
    const definitionIds = [graph.id]
    const first = await given.adapter.findRunEnds({ definitionIds, limit: 2 })
    const rest = await given.adapter.findRunEnds({ definitionIds, after: first[1]!.sequence, limit: 10 })

    expect([...first, ...rest].map(({ runId }) => runId)).toEqual(runs.map(({ id }) => id))
    expect(await given.adapter.findRunEnds({ definitionIds: [], limit: 10 })).toEqual([])
    expect(await given.adapter.findRunEnds({ definitionIds: [graph.id, other.id], limit: 10 })).toHaveLength(
      6,
    )
  },

  'a forgotten end is gone, and forgetting it again changes nothing': async (given) => {
    const graph = await single(given)
    const [one, two] = [await completed(given, graph), await completed(given, graph)]
    const kept = await ends(given, graph)
    await given.adapter.forgetRunEnds(kept.slice(0, 1))
    await given.adapter.forgetRunEnds(kept.slice(0, 1))
    await given.adapter.forgetRunEnds([])
    // The number of an end, and not its definition's.
    await given.adapter.forgetRunEnds([{ sequence: kept[1]!.sequence, definitionId: -1 }])

    expect(kept.map(({ runId }) => runId)).toEqual([one.id, two.id])
    expect((await ends(given, graph)).map(({ runId }) => runId)).toEqual([two.id])
  },

  'a run is not pruned before its end is forgotten': async (given) => {
    const graph = await single(given)
    const run = await completed(given, graph)
    expect(await prune(given.adapter, run)).toEqual([])
    await given.adapter.forgetRunEnds(await ends(given, graph))

    expect(await prune(given.adapter, run)).toEqual([run.id])
  },

  'a run that was started for an end is neither pruned nor loses its key before that end is forgotten':
    async (given) => {
      const run = await completed(given, await single(given))
      const graph = await given.graph('follower', { a: [] })
      const follower = await given.start(graph, { key: 'k', parent: { runId: run.id, step: null } })
      await (await given.worker()).complete(follower, 'a')
      const release = () =>
        given.adapter.releaseKeys({ runIds: [follower.id], finishedBefore: Date.UTC(2100, 0, 1) })

      expect(await release()).toEqual([])
      expect(await prune(given.adapter, follower)).toEqual([])
      await given.adapter.forgetRunEnds(await ends(given, run.graph))

      expect(await release()).toEqual([follower.id])
      expect(await prune(given.adapter, follower)).toEqual([follower.id])
    },

  'a run remembers for which run it was started, and is found by it': async (given) => {
    const graph = await single(given)
    const parent = await given.start(graph)
    const child = await given.start(graph, { ...REPORTS, parent: { runId: parent.id, step: 0 } })
    const followUp = await given.start(graph, { parent: { runId: parent.id, step: null } })
    await (await given.worker()).complete(child, 'a')
    const found = async (filter = {}) =>
      (await given.adapter.listRuns({ parentId: parent.id, limit: 10, ...filter })).map(({ runId }) => runId)

    expect((await parent.record()).parent).toBeNull()
    expect((await child.record()).parent).toEqual({ runId: parent.id, step: 0 })
    expect((await followUp.record()).parent).toEqual({ runId: parent.id, step: null })
    expect(await ends(given, graph)).toMatchObject([{ parent: { runId: parent.id, step: 0 } }])
    expect(await found()).toEqual([followUp.id, child.id])
    expect(await found({ status: ['completed'] })).toEqual([child.id])
    expect(await found({ before: followUp.id })).toEqual([child.id])
    expect(await found({ parentId: child.id })).toEqual([])
    expect(await found({ parentId: 'no such run' })).toEqual([])
    expect(await given.adapter.countRuns({ parentId: parent.id, max: 10, byStatus: false })).toMatchObject([
      { count: 2 },
    ])
  },

  "a run that was started in a caller's transaction reports its end, and has its parent": async (given) => {
    const graph = await single(given)
    const [worker, runId, parent] = [await given.worker(), given.ids.runId(), await given.start(graph)]
    const started = { runId, definitionId: graph.id, workflow: graph.name, key: null, input: null }
    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns([{ ...started, ...REPORTS, parent: { runId: parent.id, step: 0 } }], {
        tx,
      })
    })
    await worker.complete(new CaseRun(given.adapter, runId, graph), 'a')

    expect(await ends(given, graph)).toMatchObject([{ runId, parent: { runId: parent.id, step: 0 } }])
  },
}

function ends(given: Scenario, graph: Graph): Promise<readonly RunEnd[]> {
  return given.adapter.findRunEnds({ definitionIds: [graph.id], limit: 100 })
}

async function completed(given: Scenario, graph: Graph): Promise<CaseRun> {
  const run = await given.start(graph, REPORTS)
  await (await given.worker()).complete(run, 'a')
  return run
}
