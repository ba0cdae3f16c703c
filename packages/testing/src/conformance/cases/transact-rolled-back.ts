import type { Transacted } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import { completed, UNLIMITED } from '../scenario/index.ts'
import { endedWell, started, transactWith } from './transact.ts'

/**
 * Transactions of steps that leave nothing behind: rolled back by their work, refused by the store, or of an attempt that does not hold its step any
 * more.
 */
export const rolledBackCases: Cases = {
  'work that resolves to no outcome is rolled back, and the step is still held': async (given) => {
    const { run, worker, wrote, write } = await started(given)
    const claim = await worker.claimOf(run, 'a')

    const transacted = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        await write(tx)
        return null
      },
    })

    expect(transacted).toMatchObject({ type: 'rolled_back' })
    expect(await wrote()).toBe(0)
    expect(await worker.held()).toEqual([claim])
  },

  'work that fails is rolled back, and its error is returned': async (given) => {
    const { run, worker, wrote, write } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    const broken = new Error('broken')

    const transacted = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        await write(tx)
        throw broken
      },
    })

    expect(transacted).toEqual({ type: 'rolled_back', error: broken })
    expect(await wrote()).toBe(0)
    expect(await worker.held()).toEqual([claim])
  },

  'work that fails on a conflict is reported as a conflict, also if the error is wrapped in another': async (
    given,
  ) => {
    const { run, worker, wrote, write } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    for (const code of ['40001', '40P01']) {
      const cause = Object.assign(new Error('given up'), { code })
      for (const error of [cause, new Error('query failed', { cause })]) {
        const transacted = await given.adapter.transact({
          workerId: worker.id,
          isolation: 'serializable',
          async work(tx) {
            await write(tx)
            throw error
          },
        })
        expect(transacted).toEqual({ type: 'conflict', error })
      }
    }
    expect(await wrote()).toBe(0)
    expect(await worker.held()).toEqual([claim])
  },

  'an attempt that no longer holds its step leaves nothing': async (given) => {
    const { run, worker, wrote, transact } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    await given.expireLeases()
    await given.sweep()
    const before = await given.snapshot()

    const transacted = await transact(claim)

    expect(transacted).toEqual({ type: 'lost' })
    expect(await wrote()).toBe(0)
    expect(await given.snapshot()).toEqual(before)
  },

  'an attempt that was already settled leaves nothing more, even by its own worker': async (given) => {
    const { run, worker, wrote, transact } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    expect(await transact(claim)).toMatchObject({ type: 'settled' })
    const before = await given.snapshot()

    expect(await transact(claim)).toEqual({ type: 'lost' })

    expect(await wrote()).toBe(1)
    expect(await given.snapshot()).toEqual(before)
  },

  'an output that the store refuses is rolled back with the work': async (given) => {
    const { run, worker, wrote, transact } = await started(given)
    const claim = await worker.claimOf(run, 'a')

    const transacted = await transact(claim, '{"not json')

    expect(transacted).toEqual({ type: 'refused', reason: expect.stringMatching(/./) })
    expect(await wrote()).toBe(0)
    expect(await worker.held()).toEqual([claim])
  },

  'nothing of the step is locked while the work runs': besideTransaction(async (given) => {
    const { run, worker, wrote, write } = await started(given)
    const claim = await worker.claimOf(run, 'a')

    const transacted = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        await write(tx)
        // As a sweep and another worker would do.
        expect((await worker.settle([completed(claim, '"elsewhere"')])).results).toEqual(['settled'])
        expect(await given.adapter.now()).toBeGreaterThan(0)
        return { outcome: endedWell(claim), handBackMax: UNLIMITED }
      },
    })

    expect(transacted).toEqual({ type: 'lost' })
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '"elsewhere"' })
    expect(await wrote()).toBe(0)
  }),

  'two workers that hold a step one after the other commit it once': besideTransaction(async (given) => {
    const { run, worker, wrote, write } = await started(given)
    const zombie = await worker.claimOf(run, 'a')
    let second: Transacted | undefined

    const first = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        await write(tx)
        await given.expireLeases()
        await given.sweep()
        const living = await given.worker()
        second = await transactWith(given, living, await living.claimOf(run, 'a'), write)
        return { outcome: endedWell(zombie), handBackMax: UNLIMITED }
      },
    })

    expect(second).toMatchObject({ type: 'settled' })
    expect(first).toEqual({ type: 'lost' })
    expect(await wrote()).toBe(1)
  }),
}
