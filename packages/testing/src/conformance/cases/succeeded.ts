import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, unstorable } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'

/** A pair whose first step took effect, but failed because its output cannot be stored. Not undone yet. */
async function succeededPair(given: Scenario) {
  const run = await given.pair()
  const worker = await given.worker()
  const { results } = await worker.settle([unstorable(await worker.claimOf(run, 'a'))])
  expect(results).toEqual(['settled'])
  return { run, worker }
}

/** What each verb reports about the step. */
async function told(given: Scenario, run: CaseRun) {
  const [loaded] = await given.adapter.load([{ runId: run.id, steps: [0, 1] }])
  const [drained] = await given.drain()
  return {
    record: (await run.read()).steps.map(({ succeeded }) => succeeded),
    loaded: loaded?.steps.map(({ succeeded }) => succeeded),
    drained: drained?.steps.map(({ succeeded }) => succeeded),
  }
}

/** Steps whose effect is there although they did not complete. */
export const succeededCases: Cases = {
  'a failed step that had succeeded is reported as such, and no other step is': async (given) => {
    const { run } = await succeededPair(given)
    const [plainRun, plainWorker] = [await given.pair(), await given.worker()]

    const found = await told(given, run)
    await plainWorker.fail(plainRun, 'a')

    expect(found).toEqual({ record: [true, false], loaded: [true, false], drained: [true, false] })
    expect(await plainRun.step('a')).toMatchObject({ status: 'failed', succeeded: false })
  },

  'a step that succeeded and failed is claimed for its undo like any failed step': async (given) => {
    const { run, worker } = await succeededPair(given)

    await given.adapter.beginUndo([
      { runId: run.id, endsAs: 'compensated', undos: [{ step: 0, openDependents: 0 }] },
    ])
    const claim = await worker.claimOf(run, 'a')
    await worker.compensate(run, 'a')

    expect(claim).toMatchObject({ direction: 'undo', undoOf: 'failed' })
    expect(await run.record()).toMatchObject({ status: 'compensated' })
    expect(await run.step('a')).toMatchObject({ status: 'compensated', succeeded: true })
  },

  'a retry keeps that the step had succeeded, also if the retry fails': async (given) => {
    const { run, worker } = await succeededPair(given)
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])
    await given.operate(run).retry()
    const ready = await run.step('a')

    await worker.fail(run, 'a')

    expect(ready).toMatchObject({ status: 'ready', succeeded: true })
    expect((await told(given, run)).drained).toEqual([true, false])
  },

  'the undo clears the success: a step that runs anew has not succeeded': async (given) => {
    const { run, worker } = await succeededPair(given)
    await given.adapter.beginUndo([
      { runId: run.id, endsAs: 'compensated', undos: [{ step: 0, openDependents: 0 }] },
    ])
    await worker.compensate(run, 'a')

    await given.operate(run).retry()

    expect(await run.step('a')).toMatchObject({ status: 'ready', succeeded: false })
  },

  'a skipped step keeps its success, and has an output': async (given) => {
    const { run, worker } = await succeededPair(given)
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])
    await given.operate(run).skipStep('a', { output: { id: 1 } })
    await worker.fail(run, 'b')

    const [drained] = await given.drain()

    expect(drained?.steps).toMatchObject([
      { step: 0, status: 'skipped', succeeded: true },
      { step: 1, status: 'failed', succeeded: false },
    ])
  },

  'a completed step has no such mark, and its run ends as usual': async (given) => {
    const { run, worker } = await succeededPair(given)
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])
    await given.operate(run).retry()

    await worker.settle([completed(await worker.claimOf(run, 'a'))])
    await worker.complete(run, 'b')

    expect(await run.record()).toMatchObject({ status: 'completed' })
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '"output"' })
  },
}
