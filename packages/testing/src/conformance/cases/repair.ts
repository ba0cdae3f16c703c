import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, parked, undoneChain } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { CaseWorker } from '../scenario/worker.ts'

/** s0 → s1 → s2, undone until the compensation of s1 failed for good. */
async function parkedChain(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const { run, worker } = await undoneChain(given)
  await worker.settle([parked(await worker.claimOf(run, 's1'))])
  expect(await run.status()).toBe('compensation_failed')
  return { run, worker }
}

export const repairCases: Cases = {
  'giving up a handler leaves its step failed, with an error, and without a worker; a late outcome is lost':
    async (given) => {
      const run = await given.pair()
      const worker = await given.worker()
      const claim = await worker.claimOf(run, 'a')
      await given.cancel(run)

      await given.operate(run).giveUpStep('a', { reason: 'it hangs' })

      expect(await run.step('a')).toMatchObject({
        status: 'failed',
        workerId: null,
        error: expect.stringMatching(/"code":"outcome_unknown".*it hangs/),
      })
      expect(await worker.held()).toEqual([])
      expect(await worker.settle([completed(claim)])).toMatchObject({ results: ['lost'] })
      const [drained] = await given.adapter.drain({ definitionIds: [run.graph.id], limit: 10 })
      expect(drained?.steps[0]).toMatchObject({ step: 0, status: 'failed', started: true })
    },

  'giving up a compensation parks its run': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await worker.claimOf(run, 'a')

    await given.operate(run).giveUpStep('a', { reason: 'it hangs' })

    expect(await run.status()).toBe('compensation_failed')
    expect(await run.step('a')).toMatchObject({ status: 'compensation_failed', workerId: null })
    await given.operate(run).skipCompensation('a')
    expect(await run.status()).toBe('cancelled')
  },

  'a parked compensation can be called again, and the undo continues': async (given) => {
    const { run, worker } = await parkedChain(given)

    await given.operate(run).retryCompensation('s1')

    expect(await run.status()).toBe('compensating')
    expect(await worker.claimOf(run, 's1')).toMatchObject({
      direction: 'undo',
      failures: 0,
      undoOf: 'completed',
    })
    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
  },

  'a compensation that fails again parks the run again': async (given) => {
    const { run, worker } = await parkedChain(given)
    await given.operate(run).retryCompensation('s1')

    await worker.settle([parked(await worker.claimOf(run, 's1'))])

    expect(await run.status()).toBe('compensation_failed')
  },

  'a skipped compensation counts as done, and earlier steps are undone': async (given) => {
    const { run, worker } = await parkedChain(given)

    await given.operate(run).skipCompensation('s1')

    expect(await run.status()).toBe('compensating')
    expect(await run.statuses()).toEqual({ s0: 'compensating', s1: 'compensated', s2: 'failed' })
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
    expect((await run.read()).steps.map(({ undo }) => undo?.skipped)).toEqual([false, true, undefined])
  },

  'a step whose undo was skipped, and that runs again, has a new undo': async (given) => {
    const { run, worker } = await parkedChain(given)
    await given.operate(run).skipCompensation('s1')
    await worker.compensate(run, 's0')

    await given.operate(run).retry()

    expect(await run.step('s1')).toMatchObject({ status: 'pending', undo: null })
    await worker.complete(run, 's0')
    await worker.complete(run, 's1')
    await worker.fail(run, 's2')
    await given.undo(run)
    await worker.compensate(run, 's1')
    expect(await run.step('s1')).toMatchObject({ status: 'compensated', undo: { skipped: false } })
  },

  'skipping the last compensation ends the run': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await worker.settle([parked(await worker.claimOf(run, 'a'))])

    await given.operate(run).skipCompensation('a')

    expect(await run.record()).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Number) })
  },

  'a run stays parked until its last parked compensation is repaired': async (given) => {
    const run = await given.start(await given.graph('two', { a: [], b: [], c: ['a', 'b'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a', 'b')
    await worker.fail(run, 'c')
    await given.undo(run)
    const claims = await worker.claimsOf(run, 'a', 'b')
    await worker.settle(claims.map((claim) => parked(claim)))

    await given.operate(run).retryCompensation('a')
    expect(await run.status()).toBe('compensation_failed')
    // The repaired step continues anyway.
    await worker.compensate(run, 'a')
    await given.operate(run).skipCompensation('b')

    expect(await run.status()).toBe('compensated')
  },

  'only a compensation that has failed for good can be repaired': async (given) => {
    const { run, worker } = await parkedChain(given)
    const going = await given.pair()
    const before = await given.snapshot()

    for (const [handle, step] of [
      [given.operate(run), 's0'],
      [given.operate(run), 's2'],
      [given.operate(going), 'a'],
    ] as const) {
      await expect(handle.retryCompensation(step)).rejects.toMatchObject({ code: 'action_refused', step })
      await expect(handle.skipCompensation(step)).rejects.toMatchObject({ code: 'action_refused', step })
    }
    await expect(given.operate(run).retry()).rejects.toMatchObject({
      message: expect.stringMatching(/retry it, or mark it as undone/),
    })
    expect(await given.snapshot()).toEqual(before)
    expect(await worker.held()).toEqual([])
  },
}
