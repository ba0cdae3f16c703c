import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, LEASE_MS, retry } from '../scenario/index.ts'

export const pauseCases: Cases = {
  'no step of a paused run is claimed, and every step is once the run is resumed': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()

    expect(await given.operate(run).pause()).toBe(true)
    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    expect(await given.operate(run).resume()).toBe(true)

    expect(await run.status()).toBe('running')
    expect(await worker.take()).toHaveLength(3)
  },

  'a step that ends while its run is paused hands nothing back; its dependents begin after the run is resumed':
    async (given) => {
      const run = await given.diamond()
      const worker = await given.worker()
      const claim = await worker.claimOf(run, 'a')
      await given.operate(run).pause()

      const settlement = await worker.settle([completed(claim)], 10)

      expect(settlement).toMatchObject({ results: ['settled'], claims: [], runs: [], queued: false })
      expect(await worker.take()).toEqual([])
      expect(await run.statuses()).toEqual({ a: 'completed', b: 'pending', c: 'pending', d: 'pending' })
      await given.operate(run).resume()
      expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready', c: 'ready', d: 'pending' })
      await worker.complete(run, 'b', 'c')
      await worker.complete(run, 'd')
      expect(await run.status()).toBe('completed')
    },

  'a paused run completes when its last steps in flight complete': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 's0', 's1')
    await given.operate(run).pause()

    const settlement = await worker.settle(claims.map((claim) => completed(claim)))

    expect(settlement.runs).toMatchObject([{ runId: run.id, status: 'completed' }])
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })
  },

  'every step that has not begun also waits for the run to be resumed, and for nothing else afterwards':
    async (given) => {
      const run = await given.diamond()
      const worker = await given.worker()
      await worker.complete(run, 'a')
      await worker.settle([retry(await worker.claimOf(run, 'b'), 0)])
      const running = await worker.claimOf(run, 'c')
      const openDependencies = async () =>
        (await given.adapter.readRun(run.id))!.steps.map((step) => step.openDependencies)

      await given.operate(run).pause()
      expect(await openDependencies()).toEqual([0, 1, 0, 3])
      // A step that is requeued meanwhile is held back by its run's status alone.
      await worker.settle([retry(running, 0)])
      expect(await worker.take()).toEqual([])
      await given.operate(run).resume()

      expect(await openDependencies()).toEqual([0, 0, 0, 2])
      expect(await worker.take()).toHaveLength(2)
    },

  'a retry keeps its due time through a pause': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 2_000)])
    await given.operate(run).pause()
    await given.advance(900)
    await given.operate(run).resume()

    expect(await worker.take()).toEqual([])
    await given.advance(1_200)
    expect(await worker.take()).toMatchObject([{ step: 0, failures: 1 }])
  },

  'a step that came due while its run was paused is claimed after the run is resumed': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 1_000)])
    await given.operate(run).pause()
    await given.advance(1_500)
    // The claim that reads the queue row drops it.
    expect(await worker.take()).toEqual([])

    await given.operate(run).resume()

    expect(await worker.take()).toMatchObject([{ runId: run.id, step: 0 }])
  },

  'a step whose worker died while its run was paused is claimed after the run is resumed': async (given) => {
    const run = await given.pair()
    await (await given.worker()).take()
    await given.operate(run).pause()
    await given.advance(LEASE_MS + 1)
    await given.sweep()
    const heir = await given.worker()
    expect(await heir.take()).toEqual([])

    await given.operate(run).resume()

    expect(await heir.take()).toMatchObject([{ step: 0, losses: 1 }])
  },

  'pausing a paused run and resuming a running one change nothing': async (given) => {
    const run = await given.diamond()
    expect(await given.operate(run).resume()).toBe(false)
    await given.operate(run).pause()
    const before = await given.snapshot()

    expect(await given.operate(run).pause()).toBe(false)

    expect(await given.snapshot()).toEqual(before)
    expect(await given.operate(run).history()).toHaveLength(1)
  },

  'a cancelled run is not paused any more': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.operate(run).pause()

    expect(await given.operate(run).cancel()).toBe(true)

    expect(await run.statuses()).toEqual({ a: 'completed', b: 'cancelled' })
    expect(await run.status()).toBe('compensating')
    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'cancellation' }])
  },

  'a run that has ended can be neither paused nor resumed': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const before = await given.snapshot()

    await expect(given.operate(run).pause()).rejects.toMatchObject({ code: 'action_refused', runId: run.id })
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })

    expect(await given.snapshot()).toEqual(before)
  },
}
