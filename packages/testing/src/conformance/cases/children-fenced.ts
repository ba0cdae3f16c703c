import type { Claim, NewRun, Outcome, StartedRun } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { type CaseRun, type CaseWorker, completed, PAIR, released, type Scenario } from '../scenario/index.ts'
import { prune, single } from './ended-runs.ts'

export const fencedChildCases: Cases = {
  'a child is started while the attempt that starts it holds its step, also in its undo': async (given) => {
    const { parent, worker, claim } = await startingChild(given)
    expect(await startChild(given, claim)).toMatchObject({ created: true })

    await worker.settle([completed(claim)])
    await worker.complete(parent, 'b')
    const run = await given.start(parent.graph)
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    const undo = await worker.claimOf(run, 'a')

    expect(await startChild(given, undo)).toMatchObject({ created: true })
    await worker.settle([{ ...released(undo), begun: false, delayMs: 60_000 } as Outcome])
    // It waits, so no attempt holds it.
    expect(await startChild(given, undo)).toMatchObject({ created: false, lost: true })
  },

  'nothing is started by an attempt whose step went to another worker': async (given) => {
    const { claim } = await startingChild(given)
    await given.expireLeases()
    await given.sweep()

    const before = await startChild(given, claim)
    const next = await (await given.worker()).take()
    const after = await startChild(given, claim)

    expect([before, after]).toMatchObject([
      { created: false, lost: true },
      { created: false, lost: true },
    ])
    expect(await startChild(given, next[0]!)).toMatchObject({ created: true })
  },

  'nothing is started by an attempt whose run was cancelled without an undo, and ended': async (given) => {
    const { parent, claim } = await startingChild(given)
    await given.operate(parent).cancel({ compensate: false })
    await given.expireLeases()
    await given.sweep()
    for (const drained of await given.drain())
      await given.adapter.beginUndo([{ runId: drained.runId, endsAs: 'cancelled', undos: [] }])
    expect(await parent.status()).toBe('cancelled')

    expect(await startChild(given, claim)).toMatchObject({ lost: true })
    expect(await given.adapter.listRuns({ parentId: parent.id, limit: 10 })).toEqual([])
  },

  'nothing is started by an attempt that has recorded its outcome, or whose run was pruned': async (
    given,
  ) => {
    const { parent, worker, claim } = await startingChild(given)
    await worker.settle([completed(claim)])
    const recorded = await startChild(given, claim)
    await worker.complete(parent, 'b')
    await prune(given.adapter, parent)

    expect([recorded, await startChild(given, claim)]).toMatchObject([{ lost: true }, { lost: true }])
  },

  'a child that is there is returned, also to an attempt that has lost its step: the first answer was lost':
    async (given) => {
      const { worker, claim } = await startingChild(given)
      const child = newChild(given, await single(given), claim)
      await given.adapter.startRuns([child])
      await worker.settle([completed(claim)])

      const [again] = await given.adapter.startRuns([child])
      const [other] = await given.adapter.startRuns([{ ...child, runId: given.ids.runId() }])

      expect([again, other]).toMatchObject([
        { created: false, runId: child.runId },
        { created: false, runId: child.runId },
      ])
      expect([again?.lost, other?.lost]).toEqual([undefined, undefined])
    },

  'of a batch, runs are started but for the children whose attempts have lost their steps': async (given) => {
    const { worker, claim } = await startingChild(given)
    const { claim: held } = await startingChild(given, worker)
    await worker.settle([completed(claim)])
    const graph = await single(given)
    const plain = {
      runId: given.ids.runId(),
      definitionId: graph.id,
      workflow: 'single',
      key: null,
      input: '1',
    }
    const [one, other] = [newChild(given, graph, claim), { ...newChild(given, graph, held), priority: 3 }]

    const started = await given.adapter.startRuns([plain, one, other])

    expect(started.map(({ runId, created, lost }) => [runId, created, lost])).toEqual([
      [plain.runId, true, undefined],
      [one.runId, false, true],
      [other.runId, true, undefined],
    ])
    expect((await given.adapter.readRun(other.runId))?.run).toMatchObject({ priority: 3 })
  },

  'a child whose attempt has lost its step takes no slot of a limit': async (given) => {
    const { worker, claim } = await startingChild(given)
    const { claim: held } = await startingChild(given, worker)
    await worker.settle([completed(claim)])
    await given.adapter.declareLimits([{ name: 'one', concurrency: 1 }])
    const limits = [{ limit: 'one', key: '', concurrency: 1 }]
    const graph = await single(given)

    const [lost] = await given.adapter.startRuns([{ ...newChild(given, graph, claim), limits }])
    const [taken] = await given.adapter.startRuns([{ ...newChild(given, graph, held), limits }])

    expect([lost, taken]).toMatchObject([{ lost: true }, { created: true }])
    expect(await given.adapter.readLimits(['one'])).toMatchObject([{ inUse: 1 }])
  },

  'a child is either started before its step is taken back, or not at all': withSecond(
    async (given, second) => {
      for (let round = 0; round < 5; round += 1) {
        const { parent, claim } = await startingChild(given)
        await given.expireLeases()
        const child = newChild(given, await single(given), claim)

        const [[started]] = await Promise.all([given.adapter.startRuns([child]), given.sweep(second)])

        const children = await given.adapter.listRuns({ parentId: parent.id, limit: 10 })
        expect(children.map(({ runId }) => runId)).toEqual(started?.created === true ? [child.runId] : [])
        await given.sweep()
      }
    },
  ),
}

/** A run of a → b whose step a is held: it is about to start a child. */
async function startingChild(
  given: Scenario,
  by?: CaseWorker,
): Promise<{ readonly parent: CaseRun; readonly worker: CaseWorker; readonly claim: Claim }> {
  const parent = await given.start(await given.graph('pair', PAIR))
  const worker = by ?? (await given.worker())
  return { parent, worker, claim: await worker.claimOf(parent, 'a') }
}

function newChild(given: Scenario, { id }: { readonly id: number }, { runId, step, fence }: Claim): NewRun {
  const parent = { runId, step }
  return {
    ...{ runId: given.ids.runId(), definitionId: id, workflow: 'single', input: '"input"' },
    ...{ key: given.ids.runId(), parent, parentFence: fence },
  }
}

async function startChild(given: Scenario, claim: Claim): Promise<StartedRun> {
  const [started] = await given.adapter.startRuns([newChild(given, await single(given), claim)])
  return started!
}
