import type { Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import {
  CANCELLED,
  type CaseRun,
  type CaseWorker,
  completed,
  released,
  type Scenario,
  waiting,
} from '../scenario/index.ts'
import { single } from './ended-runs.ts'
import { migrate } from './migration.ts'

export const wakingParentCases: Cases = {
  'steps that wait for their children are claimable once they are woken': async (given) => {
    const { parent, children, worker } = await family(given)
    expect(await worker.take()).toMatchObject([{ runId: children[0]!.id }, { runId: children[1]!.id }])

    expect(await wake(given, ...children)).toEqual([woken(parent), woken(parent)])

    expect(await worker.take()).toMatchObject([
      { runId: parent.id, step: 0, failures: 0 },
      { runId: parent.id, step: 1, failures: 0 },
    ])
  },

  'a step that is woken twice is claimed once': async (given) => {
    const { parent, children, worker } = await family(given)
    await wake(given, ...children)
    await wake(given, ...children)

    const claims = await worker.take()

    expect(claims.filter(({ runId }) => runId === parent.id)).toHaveLength(2)
    await given.advance(1_000)
    expect(await worker.take()).toEqual([])
  },

  'a step whose attempt is under way is busy, and a step that has ended is not woken': async (given) => {
    const { parent, children, worker } = await family(given)
    await wake(given, ...children)
    const [s0] = await worker.claimsOf(parent, 's0', 's1')
    await worker.settle([completed(s0!)])

    expect(await wake(given, ...children)).toEqual([{ result: 'over' }, { result: 'busy' }])

    expect(await parent.statuses()).toEqual({ s0: 'completed', s1: 'running' })
  },

  'runs that no step has started wake nobody': async (given) => {
    const run = await given.start(await single(given))
    const follower = await given.start(await single(given), { parent: { runId: run.id, step: null } })

    expect(await wake(given, run, follower)).toEqual([{ result: 'over' }, { result: 'over' }])
    expect(await given.adapter.wakeParents(['no id'])).toEqual([{ result: 'over' }])
    expect(await given.adapter.wakeParents([])).toEqual([])
  },

  'a step of a paused run is woken, and claimed once the run is resumed': async (given) => {
    const { parent, children, worker } = await family(given)
    await given.operate(parent).pause()

    expect(await wake(given, children[0]!)).toEqual([woken(parent)])

    expect((await worker.take()).filter(({ runId }) => runId === parent.id)).toEqual([])
    await given.operate(parent).resume()
    expect((await worker.take()).filter(({ runId }) => runId === parent.id)).toMatchObject([{ step: 0 }])
  },

  'the undo of a step that waits without a worker is claimable once it is woken': async (given) => {
    const { parent, children, worker } = await undoing(given)

    expect(await wake(given, children[0]!)).toEqual([woken(parent)])

    const claims = await worker.take()
    expect(claims.filter(({ runId }) => runId === parent.id)).toMatchObject([{ step: 0, direction: 'undo' }])
    expect(await wake(given, children[0]!)).toEqual([{ result: 'busy' }])
  },

  'the undo of a step of a paused run is woken, and claimed once the run is resumed': async (given) => {
    const { parent, children, worker } = await undoing(given)
    await given.operate(parent).pause()

    expect(await wake(given, children[0]!)).toEqual([woken(parent)])

    expect((await worker.take()).filter(({ runId }) => runId === parent.id)).toEqual([])
    await given.operate(parent).resume()
    expect((await worker.take()).filter(({ runId }) => runId === parent.id)).toMatchObject([{ step: 0 }])
  },

  'a cancelled run has no step to wake': async (given) => {
    const { parent, children } = await family(given)
    await given.operate(parent).cancel({ compensate: false })
    await given.drain({ runs: [parent] })

    expect(await wake(given, ...children)).toEqual([{ result: 'over' }, { result: 'over' }])
  },

  'the step that is woken is the one that the child belongs to after its parent moved': async (given) => {
    const { parent, children, worker } = await family(given)
    const moved = await migrate(given, parent, { a: [], s0: [], s1: [], x: [] })

    const answers = await wake(given, children[1]!)

    expect(answers).toEqual([{ result: 'woken', definitionId: moved.graph.id }])
    const claims = await worker.take()
    const ofParent = claims.filter(({ runId }) => runId === parent.id).map(({ step }) => step)
    expect(ofParent).toContain(moved.graph.numberOf('s1'))
    expect(ofParent).not.toContain(moved.graph.numberOf('s0'))
  },

  'a step is busy while a transaction that changes its run is open, and nobody waits for it':
    besideTransaction(async (given) => {
      const { parent, children } = await family(given)
      await given.harness.transaction(async (tx) => {
        await given.operate(parent).pause({ tx })
        expect(await wake(given, children[0]!)).toEqual([{ result: 'busy' }])
      })

      expect(await wake(given, children[0]!)).toEqual([woken(parent)])
    }),
}

const wake = (given: Scenario, ...children: readonly CaseRun[]) =>
  given.adapter.wakeParents(children.map(({ id }) => id))

const woken = ({ graph }: CaseRun) => ({ result: 'woken', definitionId: graph.id })

/** A run both of whose steps wait for a child. */
async function family(given: Scenario): Promise<{
  readonly parent: CaseRun
  readonly children: readonly CaseRun[]
  readonly worker: CaseWorker
}> {
  const parent = await given.loose(2)
  const worker = await given.worker()
  const claims = await worker.claimsOf(parent, 's0', 's1')
  const graph = await single(given)
  const children: CaseRun[] = []
  for (const step of [0, 1]) children.push(await given.start(graph, { parent: { runId: parent.id, step } }))
  await worker.settle(claims.map((claim) => waiting(claim, null)))
  return { parent, children, worker }
}

/** A run whose only undo waits for a child. */
async function undoing(given: Scenario) {
  const found = await family(given)
  const { parent, children, worker } = found
  await wake(given, children[0]!)
  await worker.complete(parent, 's0')
  await given.adapter.cancelRuns({ runIds: [parent.id], cause: CANCELLED })
  await given.undo(parent)
  const claim = await worker.claimOf(parent, 's0')
  await worker.settle([{ ...released(claim), begun: false, delayMs: 60_000 } as Outcome])
  return found
}
