import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { retry, undoneBranches, undoneChain } from '../scenario/index.ts'

/** Operators' actions on an undo between its attempts. */
export const undoTryCases: Cases = {
  'an undo that has begun cannot be cancelled without it, and its pause outlasts a cancellation': async (
    given,
  ) => {
    const { run } = await undoneChain(given)
    const refused = { code: 'action_refused', message: expect.stringMatching(/A cancellation stops no undo/) }

    expect(await given.operate(run).cancel()).toBe(false)
    await expect(given.operate(run).cancel({ compensate: false })).rejects.toMatchObject(refused)
    await given.operate(run).pause()
    expect(await given.operate(run).cancel()).toBe(false)
    await expect(given.operate(run).cancel({ compensate: false })).rejects.toMatchObject(refused)

    expect(await run.status()).toBe('paused')
  },

  'an undo that waits for its next attempt can be tried at once, with a fresh count of failures': async (
    given,
  ) => {
    const { run, worker } = await undoneChain(given)
    await worker.settle([retry(await worker.claimOf(run, 's1'), 60_000)])
    expect(await worker.take()).toEqual([])

    await given.operate(run).retryCompensation('s1')

    expect(await worker.take()).toMatchObject([{ step: 1, direction: 'undo', failures: 0 }])
    expect(await run.status()).toBe('compensating')
  },

  'an undo that waits for its next attempt can be skipped, and earlier steps are undone': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.settle([retry(await worker.claimOf(run, 's1'), 60_000)])

    await given.operate(run).skipCompensation('s1')

    expect(await run.statuses()).toEqual({ s0: 'compensating', s1: 'compensated', s2: 'failed' })
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
    await given.advance(60_001)
    expect(await worker.take()).toEqual([])
  },

  'in a paused undo, the next attempt can be skipped, or moved up to the moment the run is resumed': async (
    given,
  ) => {
    const { run, worker } = await undoneBranches(given)
    const [a, b] = await worker.claimsOf(run, 'a', 'b')
    await worker.settle([retry(a!, 60_000)])
    await given.operate(run).pause()
    await worker.settle([retry(b!, 60_000)])

    await given.operate(run).retryCompensation('a')
    await given.operate(run).skipCompensation('b')
    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    expect(await worker.take()).toMatchObject([{ step: 0, direction: 'undo', failures: 0 }])
  },

  'skipping all that is left of a paused undo ends the run': async (given) => {
    const { run } = await undoneChain(given)
    await given.operate(run).pause()

    await given.operate(run).skipCompensation('s1')
    expect(await run.status()).toBe('paused')
    await given.operate(run).skipCompensation('s0')

    expect(await run.status()).toBe('compensated')
  },

  'a compensation that runs, or waits for others, can be neither retried nor skipped': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.claimOf(run, 's1')
    const before = await given.snapshot()

    const handle = given.operate(run)
    for (const [act, why] of [
      [() => handle.retryCompensation('s1'), /its undo is running/],
      [() => handle.skipCompensation('s1'), /its undo is running/],
      [() => handle.retryCompensation('s0'), /it is undone after "s1"/],
      [() => handle.skipCompensation('s0'), /it is undone after "s1"/],
    ] as const) {
      await expect(act()).rejects.toMatchObject({
        code: 'action_refused',
        message: expect.stringMatching(why),
      })
    }
    expect(await given.snapshot()).toEqual(before)
  },

  'giving up a compensation in a paused run leaves the run paused': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.claimOf(run, 's1')
    await given.operate(run).pause()

    await given.operate(run).giveUpStep('s1', { reason: 'it hangs' })

    expect(await run.status()).toBe('paused')
    await given.operate(run).resume()
    expect(await run.status()).toBe('compensation_failed')
  },
}
