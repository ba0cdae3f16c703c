import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { LEASE_MS, parked, relayed, released, retry, undoneBranches, undoneChain } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'

async function openDependencies(run: CaseRun): Promise<readonly number[]> {
  return (await run.read()).steps.map((step) => step.openDependencies)
}

/** Pauses of an undo that has begun. */
export const pausedUndoCases: Cases = {
  'nothing of a paused undo begins, undos in flight end, and the rest continues once it is resumed': async (
    given,
  ) => {
    const { run, worker } = await undoneChain(given)
    const inFlight = await worker.claimOf(run, 's1')

    expect(await given.operate(run).pause()).toBe(true)
    expect(await given.operate(run).pause()).toBe(false)

    expect(await openDependencies(run)).toEqual([2, 0, 0])
    const settlement = await worker.settle([{ ...inFlight, type: 'compensated' }], 10)
    expect(settlement).toMatchObject({ results: ['settled'], claims: [], queued: false })
    expect(await worker.take()).toEqual([])
    expect(await run.statuses()).toEqual({ s0: 'compensating', s1: 'compensated', s2: 'failed' })
    expect(await run.status()).toBe('paused')
    expect(await given.operate(run).resume()).toBe(true)
    expect(await given.operate(run).resume()).toBe(false)
    expect(await openDependencies(run)).toEqual([0, 0, 0])
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
  },

  'an undo that was queued when its run was paused is claimed after the run is resumed': async (given) => {
    const { run, worker } = await undoneChain(given)

    await given.operate(run).pause()
    // The claim that reads the queue row drops it.
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
  },

  'an undo that is requeued while its run is paused is claimed after the run is resumed, at its due time':
    async (given) => {
      const { run, worker } = await undoneBranches(given)
      const [a, b] = await worker.claimsOf(run, 'a', 'b')
      await given.operate(run).pause()

      await worker.settle([retry(a!, 1_000), released(b!)])
      expect(await worker.take()).toEqual([])
      await given.operate(run).resume()

      expect(await worker.take()).toMatchObject([{ step: 1, direction: 'undo' }])
      await given.advance(1_001)
      expect(await worker.take()).toMatchObject([{ step: 0, direction: 'undo', failures: 1 }])
    },

  'an undo whose worker died while its run was paused is claimed after the run is resumed': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.claimOf(run, 's1')
    await given.operate(run).pause()
    await given.advance(LEASE_MS + 1)
    await given.sweep()
    const heir = await given.worker()
    expect(await heir.take()).toEqual([])

    await given.operate(run).resume()

    expect(await heir.take()).toMatchObject([{ step: 1, direction: 'undo', losses: 1 }])
  },

  'an undo whose last step ends while it is paused ends its run': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    const claim = await worker.claimOf(run, 'a')
    await given.operate(run).pause()

    const settlement = await worker.settle([{ ...claim, type: 'compensated' }])

    expect(settlement.runs).toMatchObject([{ runId: run.id, status: 'cancelled' }])
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })
  },

  'a relay that ends while its run is paused hands nothing back': async (given) => {
    const run = await given.chain(3)
    const worker = await given.worker()
    await worker.complete(run, 's0')
    await worker.complete(run, 's1')
    await worker.fail(run, 's2')
    await given.undo(run)
    const relay = await worker.claimOf(run, 's1')
    await given.operate(run).pause()

    expect(await worker.settle([relayed(relay)], 10)).toMatchObject({ claims: [], queued: false })
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
  },

  'a compensation that fails for good while its run is paused parks the run once it is resumed': async (
    given,
  ) => {
    const { run, worker } = await undoneBranches(given)
    const claim = await worker.claimOf(run, 'a')
    await worker.settle([released(await worker.claimOf(run, 'b'))])
    await given.operate(run).pause()

    expect((await worker.settle([parked(claim)])).runs).toEqual([])

    expect(await run.status()).toBe('paused')
    await given.operate(run).resume()
    expect(await run.status()).toBe('compensation_failed')
    await worker.compensate(run, 'b')
    await given.operate(run).skipCompensation('a')
    expect(await run.status()).toBe('compensated')
  },

  'a parked run can be paused, and is parked again once it is resumed': async (given) => {
    const { run, worker } = await undoneBranches(given)
    await worker.settle([parked(await worker.claimOf(run, 'a')), released(await worker.claimOf(run, 'b'))])
    expect(await given.operate(run).pause()).toBe(true)
    expect(await worker.take()).toEqual([])

    await given.operate(run).retryCompensation('a')
    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    expect(await run.status()).toBe('compensating')
    await worker.compensate(run, 'a', 'b')
    expect(await run.status()).toBe('compensated')
  },
}
