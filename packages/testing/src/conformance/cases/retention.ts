import type { EndedRunsRequest } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { type CaseRun, failed, PAIR } from '../scenario/index.ts'
import { cancelledRun, completedRun, failedRun, find, LATER, parkedRun, prune, single } from './ended-runs.ts'

export const retentionCases: Cases = {
  'ended runs are found, longest ended first; live runs are not': async (given) => {
    const graph = await single(given)
    const [first, second] = [await given.start(graph), await given.start(graph)]
    await given.start(graph)
    const worker = await given.worker()
    await worker.claimsOf(first, 'a')
    await worker.claimsOf(second, 'a')
    await worker.complete(second, 'a')
    await given.advance(10)
    await worker.complete(first, 'a')

    expect(await find(given)).toMatchObject({ runIds: [second.id, first.id], more: false })
  },

  'runs are found by how they ended, by workflow, by tags, and by whether they have a key': async (given) => {
    const [graph, other] = [await single(given), await given.graph('other', { a: [] })]
    const done = await completedRun(given, graph)
    const keyed = await completedRun(given, graph, 'k')
    const failed = await failedRun(given, graph)
    const cancelled = await cancelledRun(given, graph)
    const elsewhere = await given.start(other, { tags: ['b', 'a'] })
    await (await given.worker()).complete(elsewhere, 'a')
    const found = async (request: Partial<EndedRunsRequest>) =>
      [...(await find(given, request)).runIds].sort()

    expect(await found({ statuses: ['completed'] })).toEqual([done.id, keyed.id, elsewhere.id])
    expect(await found({ statuses: ['failed', 'cancelled'] })).toEqual([failed.id, cancelled.id])
    expect(await found({ workflow: ['other', 'none'] })).toEqual([elsewhere.id])
    expect(await found({ workflow: ['single', 'other'], keyed: false })).toHaveLength(5)
    expect(await found({ tags: ['a', 'b'] })).toEqual([elsewhere.id])
    expect(await found({ tags: ['a', 'c'] })).toEqual([])
    expect(await found({ keyed: true })).toEqual([keyed.id])
    expect(await found({ statuses: ['compensated'] })).toEqual([])
  },

  'only runs that ended before the instant are found': async (given) => {
    const graph = await single(given)
    const old = await completedRun(given, graph)
    await given.advance(1_000)
    const cutoff = await given.adapter.now()
    await completedRun(given, graph)

    expect((await find(given, { finishedBefore: cutoff })).runIds).toEqual([old.id])
    expect((await find(given, { finishedBefore: cutoff - 1_000 })).runIds).toEqual([])
  },

  'paging through ended runs meets each once, in pages of the requested size, and ends': async (given) => {
    const graph = await single(given)
    const runs: string[] = []
    // Two of them end at the same instant, on purpose.
    for (const pauseMs of [0, 5, 0, 5, 5]) {
      runs.push((await completedRun(given, graph)).id)
      await given.advance(pauseMs)
    }
    const met: (readonly string[])[] = []
    let after: string | null = null
    for (let more = true; more && met.length < 10; ) {
      const part = await find(given, { after, limit: 2 })
      met.push(part.runIds)
      after = part.cursor
      more = part.more
    }

    expect(met.flat()).toEqual(runs)
    expect(met.map(({ length }) => length)).toEqual([2, 2, 1])
  },

  'paging continues later where it stopped, after runs that did not match': async (given) => {
    const graph = await single(given)
    await failedRun(given, graph)
    const first = await find(given, { statuses: ['completed'] })
    await given.advance(10)
    const late = await completedRun(given, graph)

    const second = await find(given, { after: first.cursor })
    const third = await find(given, { after: second.cursor })

    expect(first.runIds).toEqual([])
    expect(second.runIds).toEqual([late.id])
    expect(third).toEqual({ runIds: [], cursor: second.cursor, more: false })
  },

  'a store without ended runs finds none': async (given) => {
    await given.pair()
    expect(await find(given)).toEqual({ runIds: [], cursor: null, more: false })
  },

  'a pruned run is gone, with its steps; other runs stay unchanged': async (given) => {
    const graph = await single(given)
    const [gone, kept] = [await completedRun(given, graph), await completedRun(given, graph)]
    const before = await kept.read()

    expect(await prune(given.adapter, gone)).toEqual([gone.id])

    expect(await given.adapter.readRun(gone.id)).toBeNull()
    expect(await given.adapter.readStatuses([gone.id, kept.id])).toMatchObject([{ runId: kept.id }])
    expect(await given.adapter.load([{ runId: gone.id, steps: [0] }])).toEqual([])
    expect(await given.adapter.listRuns({ limit: 10 })).toMatchObject([{ runId: kept.id }])
    expect(await kept.read()).toEqual(before)
  },

  'no verb shows anything of a pruned run, and nothing brings it back': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.signal(run, 'b', { key: 'k' })
    await given.operate(run).pause({ by: 'ann' })
    await given.operate(run).resume({ by: 'ann' })
    const claim = await worker.claimOf(run, 'a')
    await worker.settle([failed(claim)])
    await given.undo(run)
    const { id: runId } = run

    expect(await prune(given.adapter, run)).toEqual([runId])

    const { adapter } = given
    expect(await adapter.readRun(runId)).toBeNull()
    expect(await adapter.findRun({ runId })).toBeNull()
    expect(await adapter.readHistory({ runId, limit: 100 })).toEqual([])
    expect(await adapter.load([{ runId, steps: [0, 1] }])).toEqual([])
    expect(await adapter.readStatuses([runId])).toEqual([])
    expect(await adapter.listRuns({ limit: 10 })).toEqual([])
    expect(await adapter.listHeld({ workerId: worker.id, limit: 10 })).toEqual([])
    expect(await adapter.held({ workerId: worker.id })).toEqual([])
    expect(await adapter.stopping({ runIds: [runId] })).toEqual([])
    expect(await given.drain({ runs: [run] })).toEqual([])
    expect((await find(given)).runIds).toEqual([])
    expect((await adapter.diagnose({ overdueMs: 0, recentMs: 0 })).liveRuns).toEqual([])
    expect(await given.signal(run, 'b', { key: 'k' })).toEqual({ result: 'unknown' })
    expect(await given.cancel(run)).toEqual([])
    expect(await adapter.releaseKeys({ runIds: [runId], finishedBefore: LATER })).toEqual([])
    await expect(given.operate(run).retry()).rejects.toMatchObject({ code: 'unknown_run' })
    await expect(given.operate(run).history()).rejects.toMatchObject({ code: 'unknown_run' })
    expect(await given.snapshot()).toMatchObject({ runs: [] })
  },

  'runs of every final status are pruned': async (given) => {
    const graph = await single(given)
    const compensated = await given.pair()
    const worker = await given.worker()
    await worker.complete(compensated, 'a')
    await worker.fail(compensated, 'b')
    await given.undo(compensated)
    await worker.compensate(compensated, 'a')
    const runs = [
      await completedRun(given, graph),
      await failedRun(given, graph),
      await cancelledRun(given, graph),
      compensated,
    ]
    const statuses = await Promise.all(runs.map((run) => run.status()))

    const pruned = await prune(given.adapter, ...runs)

    expect(statuses).toEqual(['completed', 'failed', 'cancelled', 'compensated'])
    expect([...pruned].sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(await given.adapter.listRuns({ limit: 10 })).toEqual([])
  },

  'a run that has not ended is never pruned, not even by its id': async (given) => {
    const running = await given.start(await given.graph('running', PAIR))
    const stopping = await given.pair()
    const worker = await given.worker()
    await worker.claimsOf(running, 'a')
    await worker.claimsOf(stopping, 'a')
    await given.cancel(stopping)
    const parked = await parkedRun(given)
    const before = await given.snapshot()

    expect(await prune(given.adapter, running, stopping, parked)).toEqual([])

    expect(await parked.status()).toBe('compensation_failed')
    expect(await given.snapshot()).toEqual(before)
    expect((await worker.complete(running, 'a')).results).toEqual(['settled'])
  },

  'a run that ended after the instant stays': async (given) => {
    const graph = await single(given)
    const run = await completedRun(given, graph)
    const endedAt = (await run.record()).finishedAt!

    expect(await given.adapter.prune({ runIds: [run.id], finishedBefore: endedAt })).toEqual([])
    expect(await run.status()).toBe('completed')
    expect(await given.adapter.prune({ runIds: [run.id], finishedBefore: endedAt + 1 })).toEqual([run.id])
  },

  'pruning twice, pruning unknown runs, or pruning nothing is harmless': async (given) => {
    const run = await completedRun(given, await single(given))
    const unknown = given.ids.runId()

    const pruned = await given.adapter.prune({ runIds: [run.id, run.id, unknown], finishedBefore: LATER })

    expect(pruned).toEqual([run.id])
    expect(await prune(given.adapter, run)).toEqual([])
    expect(await prune(given.adapter)).toEqual([])
    expect(await given.adapter.prune({ runIds: ['no id'], finishedBefore: LATER })).toEqual([])
  },

  'the key of a pruned run can be used again': async (given) => {
    const graph = await single(given)
    const first = await completedRun(given, graph, 'order:1')
    await prune(given.adapter, first)

    const second = await given.start(graph, { key: 'order:1' })

    expect(await second.record()).toMatchObject({ runId: second.id, key: 'order:1', status: 'running' })
  },

  'a late result for a pruned run is lost, and changes nothing': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.expireLeases()
    await given.sweep()
    await given.cancel(run)
    await given.undo(run)
    await prune(given.adapter, run)

    const { results } = await worker.settle([{ ...claim, type: 'completed', output: '1' }])

    expect(results).toEqual(['lost'])
    expect(await given.adapter.listRuns({ limit: 10 })).toEqual([])
  },

  'queue rows that a pruned run left are never claimed': async (given) => {
    const graph = await single(given)
    const run = await cancelledRun(given, graph)
    await prune(given.adapter, run)

    expect(await (await given.worker()).take()).toEqual([])
  },

  'two processes that prune the same runs delete each once': withSecond(async (given, second) => {
    const graph = await single(given)
    const runs: CaseRun[] = []
    for (let n = 0; n < 20; n += 1) runs.push(await completedRun(given, graph))

    const pruned = await Promise.all([prune(given.adapter, ...runs), prune(second, ...runs)])
    const rest = await prune(given.adapter, ...runs)

    // Either process may have skipped runs that the other was deleting. Nothing is deleted twice.
    expect([...pruned.flat(), ...rest].sort()).toEqual(runs.map(({ id }) => id))
    expect(await given.adapter.listRuns({ limit: 100 })).toEqual([])
  }),
}
