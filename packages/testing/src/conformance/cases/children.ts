import type { Outcome, RunToChange } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { CANCELLED, type CaseRun, PAIR, released, type Scenario } from '../scenario/index.ts'
import { find, prune, single } from './ended-runs.ts'
import { migrate } from './migration.ts'

export const childCases: Cases = {
  'a run is found with its parent': async (given) => {
    const { parent, child } = await family(given)

    expect(await given.adapter.findRun({ runId: child.id })).toMatchObject({
      parent: { runId: parent.id, step: 1 },
    })
    expect(await given.adapter.findRun({ workflow: 'single', key: 'k' })).toMatchObject({
      runId: child.id,
      parent: { runId: parent.id, step: 1 },
    })
    expect(await given.adapter.findRun({ runId: parent.id })).toMatchObject({ parent: null })
  },

  'a run is found with its deadline': async (given) => {
    const graph = await single(given)
    const now = await given.adapter.now()
    const run = await given.start(graph, { deadlineMs: 60_000 })
    const without = await given.start(graph)

    expect((await given.adapter.findRun({ runId: run.id }))?.deadlineAt).toBeCloseTo(now + 60_000, -3)
    expect(await given.adapter.findRun({ runId: without.id })).toMatchObject({ deadlineAt: null })
  },

  'a child stays as long as its parent, and is pruned after it': async (given) => {
    const { parent, child } = await family(given)
    const worker = await given.worker()
    await worker.complete(child, 'a')
    await worker.complete(parent, 'a')
    await worker.complete(parent, 'b')

    expect(await prune(given.adapter, child)).toEqual([])
    expect(await prune(given.adapter, parent, child)).toEqual([parent.id])
    expect(await prune(given.adapter, child)).toEqual([child.id])
  },

  'the run that the end of another started is pruned like any run': async (given) => {
    const graph = await single(given)
    const first = await given.start(graph)
    const second = await given.start(graph, { parent: { runId: first.id, step: null } })
    await (await given.worker()).complete(second, 'a')

    expect(await prune(given.adapter, second)).toEqual([second.id])
  },

  'a child keeps its key as long as its parent': async (given) => {
    const { parent, child } = await family(given)
    const worker = await given.worker()
    await worker.complete(child, 'a')
    await worker.complete(parent, 'a')
    await worker.complete(parent, 'b')
    const release = async () => {
      const { runIds } = await find(given)
      return given.adapter.releaseKeys({ runIds, finishedBefore: Date.UTC(2100, 0, 1) })
    }

    expect(await release()).toEqual([])
    await prune(given.adapter, parent)
    expect(await release()).toEqual([child.id])
  },

  'a child belongs to the same step after its parent moved to another version': async (given) => {
    const { parent, child } = await family(given)
    const moved = await migrate(given, parent, { a: [], x: [], b: ['a', 'x'] })

    expect((await child.record()).parent).toEqual({ runId: parent.id, step: moved.graph.numberOf('b') })
  },

  'an undo can wait without a worker, and counts no attempt': async (given) => {
    const run = await given.start(await single(given))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.adapter.changeRun({ runId: run.id, decide: undone })
    await given.undo(run)
    const claim = await worker.claimOf(run, 'a')
    const later = { ...released(claim), begun: false, delayMs: 60_000 } as Outcome

    expect(await worker.settle([later])).toMatchObject({ results: ['settled'], queued: false })

    expect(await run.step('a')).toMatchObject({
      status: 'compensating',
      workerId: null,
      undo: { attempts: 0 },
    })
    expect(await worker.take()).toEqual([])
    await given.advance(60_000)
    expect(await worker.take()).toMatchObject([{ direction: 'undo', attempt: 1, failures: 0 }])
  },

  'a completed run can be undone, and has ended again then': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { reportsEnd: true })
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.complete(run, 'b')

    await given.adapter.changeRun({ runId: run.id, decide: undone })
    expect(await run.record()).toMatchObject({ status: 'compensating', finishedAt: null, cause: CANCELLED })
    await given.undo(run)
    await worker.compensate(run, 'b')
    await worker.compensate(run, 'a')

    expect(await run.record()).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Number) })
    const ends = await given.adapter.findRunEnds({ definitionIds: [graph.id], limit: 10 })
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'cancelled'])
  },

  'a change without an entry leaves no history': async (given) => {
    const run = await given.start(await single(given))
    await (await given.worker()).complete(run, 'a')
    await given.adapter.changeRun({ runId: run.id, decide: undone })

    expect(await given.adapter.readHistory({ runId: run.id, limit: 10 })).toEqual([])
  },
}

/** A run of a → b, and the run that its step b started. */
async function family(given: Scenario): Promise<{ readonly parent: CaseRun; readonly child: CaseRun }> {
  const parent = await given.start(await given.graph('pair', PAIR))
  const options = { key: 'k', parent: { runId: parent.id, step: 1 } }
  return { parent, child: await given.start(await single(given), options) }
}

/** Undoes a completed run, as the engine does for a child. */
function undone({ run }: RunToChange) {
  const stopped = {
    ...run,
    status: 'compensating',
    stop: 'cancellation',
    cause: CANCELLED,
    finishedAt: null,
  } as const
  return { change: { run: stopped, steps: [], queue: [], history: [] }, answer: {} }
}
