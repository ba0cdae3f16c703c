import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, failed, PAIR, planUndo } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { CaseWorker } from '../scenario/worker.ts'

/** A chain s0 → s1 → s2 whose last step failed. Not undone yet. */
async function failedChain(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.chain(3)
  const worker = await given.worker()
  await worker.complete(run, 's0')
  await worker.complete(run, 's1')
  await worker.fail(run, 's2')
  return { run, worker }
}

/** Ends a stopped run without an undo. */
async function endWithoutUndo(given: Scenario, run: CaseRun): Promise<void> {
  await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])
}

export const reopenCases: Cases = {
  'a failed run goes forward again from its failed step, and keeps everything completed': async (given) => {
    const { run, worker } = await failedChain(given)
    await endWithoutUndo(given, run)

    await given.operate(run).retry()

    expect(await run.record()).toMatchObject({ status: 'running', cause: null, finishedAt: null })
    expect(await run.statuses()).toEqual({ s0: 'completed', s1: 'completed', s2: 'ready' })
    const [claim, ...others] = await worker.take()
    expect(claim).toMatchObject({ runId: run.id, step: 2, failures: 0, losses: 0, direction: 'forward' })
    expect(claim!.fence).toBeGreaterThan(1)
    expect(others).toEqual([])
    expect((await worker.settle([completed(claim!)])).runs).toMatchObject([
      { runId: run.id, status: 'completed' },
    ])
  },

  'steps that were cancelled with the run wait for their dependencies again': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const [b] = [await worker.claimOf(run, 'b')]
    await worker.settle([failed(b)])
    await worker.complete(run, 'c')
    await endWithoutUndo(given, run)

    await given.operate(run).retry()

    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready', c: 'completed', d: 'pending' })
    expect(await run.step('d')).toMatchObject({ openDependencies: 1 })
    await worker.complete(run, 'b')
    await worker.complete(run, 'd')
    expect(await run.status()).toBe('completed')
  },

  'a run that was undone runs every undone step again, and can be undone again': async (given) => {
    const { run, worker } = await failedChain(given)
    await given.undo(run)
    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')

    await given.operate(run).retry()

    expect(await run.statuses()).toEqual({ s0: 'ready', s1: 'pending', s2: 'pending' })
    expect(await run.step('s0')).toMatchObject({
      output: null,
      undoOf: null,
      startedAt: null,
      workerId: null,
    })
    await worker.complete(run, 's0')
    await worker.complete(run, 's1')
    await worker.fail(run, 's2')
    await given.undo(run)
    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    expect(await run.record()).toMatchObject({
      status: 'compensated',
      cause: expect.stringContaining('broken'),
    })
  },

  'steps that build on an undone step run again too, even if they had nothing to undo': async (given) => {
    const { run, worker } = await failedChain(given)
    await given.undo(run, { steps: ['s0'] })
    await worker.compensate(run, 's0')

    await given.operate(run).retry()

    expect(await run.statuses()).toEqual({ s0: 'ready', s1: 'pending', s2: 'pending' })
    for (const name of ['s0', 's1', 's2']) await worker.complete(run, name)
    expect(await run.status()).toBe('completed')
  },

  'an undone step begins another round; a failed step continues its round': async (given) => {
    const run = await given.start(await given.graph('two', { a: [], b: [], c: ['a', 'b'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.fail(run, 'b')
    await given.undo(run, { steps: ['a'] })
    await worker.compensate(run, 'a')

    await given.operate(run).retry()

    const [a, b] = await worker.claimsOf(run, 'a', 'b')
    expect(a).toMatchObject({ round: 2, attempt: 1 })
    expect(b).toMatchObject({ round: 1, attempt: 2 })
    expect(await run.step('a')).toMatchObject({ round: 2, attempts: 1, undo: null })
  },

  'a late result of an attempt before the retry is lost': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }))
    const zombie = await given.worker()
    const stale = await zombie.claimOf(run, 'a')
    await given.expireLeases()
    await given.sweep()
    const worker = await given.worker()
    await worker.fail(run, 'a')
    await endWithoutUndo(given, run)
    await given.operate(run).retry()
    const claim = await worker.claimOf(run, 'a')

    const late = await zombie.settle([completed(stale)])

    expect(late.results).toEqual(['lost'])
    expect((await worker.settle([completed(claim)])).results).toEqual(['settled'])
  },

  'an undo plan that arrives after the run was sent forward again begins nothing': async (given) => {
    const { run, worker } = await failedChain(given)
    const [drained] = await given.drain({ runs: [run] })
    const late = { ...planUndo(drained!, run.graph), fences: drained!.fences }
    await endWithoutUndo(given, run)
    await given.operate(run).retry()
    await worker.fail(run, 's2')
    const before = await given.snapshot()

    expect(await given.adapter.beginUndo([late])).toEqual([])
    expect(await given.snapshot()).toEqual(before)

    const [again] = await given.drain({ runs: [run] })
    const plan = { ...planUndo(again!, run.graph), fences: again!.fences }
    expect(await given.adapter.beginUndo([plan])).toMatchObject([{ runId: run.id, status: 'compensating' }])
  },

  'a run cancelled without an undo continues where it was': async (given) => {
    const run = await given.chain(3)
    const worker = await given.worker()
    await worker.complete(run, 's0')
    await given.operate(run).cancel({ compensate: false })
    await given.drain()
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])

    await given.operate(run).retry()

    expect(await run.statuses()).toEqual({ s0: 'completed', s1: 'ready', s2: 'pending' })
    for (const name of ['s1', 's2']) await worker.complete(run, name)
    expect(await run.status()).toBe('completed')
  },

  'a run that goes forward, is being undone or has completed cannot be retried': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [going, paused, stopping, done] = [
      await given.start(graph),
      await given.start(graph),
      await given.start(graph),
      await given.start(graph),
    ]
    const worker = await given.worker()
    await worker.complete(done, 'a')
    await worker.complete(done, 'b')
    await given.cancel(stopping)
    await given.operate(paused).pause()
    const before = await given.snapshot()

    for (const run of [going, paused, stopping, done]) {
      await expect(given.operate(run).retry()).rejects.toMatchObject({ code: 'action_refused' })
    }
    expect(await given.snapshot()).toEqual(before)
  },

  'retrying a step of a run that has ended sends the run forward again': async (given) => {
    const { run, worker } = await failedChain(given)
    await endWithoutUndo(given, run)

    await expect(given.operate(run).retryStep('s0')).rejects.toMatchObject({ code: 'action_refused' })
    await given.operate(run).retryStep('s2')

    await worker.complete(run, 's2')
    expect(await run.status()).toBe('completed')
  },

  'skipping the failed step sends its run forward again, and may complete it': async (given) => {
    const { run } = await failedChain(given)
    await endWithoutUndo(given, run)

    await given.operate(run).skipStep('s2', { output: 7 })

    expect(await run.record()).toMatchObject({ status: 'completed', cause: null })
    expect(await run.step('s2')).toMatchObject({ status: 'skipped', output: '7' })
  },

  'a step that failed and was undone anyway can be skipped': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.fail(run, 'a')
    await given.undo(run, { steps: ['a'] })
    await worker.compensate(run, 'a')

    await given.operate(run).skipStep('a', { output: 1 })

    expect(await run.statuses()).toEqual({ a: 'skipped', b: 'ready' })
    await worker.complete(run, 'b')
    expect(await run.status()).toBe('completed')
  },

  'a failed step cannot be skipped if one of its dependencies was undone': async (given) => {
    const { run, worker } = await failedChain(given)
    await given.undo(run)
    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    const before = await given.snapshot()

    await expect(given.operate(run).skipStep('s2')).rejects.toMatchObject({
      code: 'action_refused',
      message: expect.stringMatching(/were undone and must run again/),
    })
    await expect(given.operate(run).skipStep('s1')).rejects.toMatchObject({
      message: expect.stringMatching(/That is "s2"/),
    })
    expect(await given.snapshot()).toEqual(before)
  },
}
