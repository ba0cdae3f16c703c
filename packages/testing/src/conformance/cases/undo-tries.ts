import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { retry } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { CaseWorker } from '../scenario/worker.ts'

/** s0 → s1 → s2, of which s2 failed, and whose undo has begun: s1 is next. */
async function undoneChain(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.chain(3)
  const worker = await given.worker()
  await worker.complete(run, 's0')
  await worker.complete(run, 's1')
  await worker.fail(run, 's2')
  await given.undo(run)
  return { run, worker }
}

/** Two steps that were undone beside each other, and one that failed after both. */
async function undoneBranches(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.start(await given.graph('branches', { a: [], b: [], c: ['a', 'b'] }))
  const worker = await given.worker()
  await worker.complete(run, 'a', 'b')
  await worker.fail(run, 'c')
  await given.undo(run)
  return { run, worker }
}

/** What operators do about an undo between its tries. */
export const undoTryCases: Cases = {
  'an undo that is under way is not cancelled without it, and its pause outlasts a cancellation': async (
    given,
  ) => {
    const { run } = await undoneChain(given)
    const refused = { code: 'action_refused', message: expect.stringMatching(/cancel\(\) stops no undo/) }

    expect(await given.operate(run).cancel()).toBe(false)
    await expect(given.operate(run).cancel({ compensate: false })).rejects.toMatchObject(refused)
    await given.operate(run).pause()
    expect(await given.operate(run).cancel()).toBe(false)
    await expect(given.operate(run).cancel({ compensate: false })).rejects.toMatchObject(refused)

    expect(await run.status()).toBe('paused')
  },

  'an undo that waits for its next try is tried at once, with all its retries before it': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.settle([retry(await worker.claimOf(run, 's1'), 60_000)])
    expect(await worker.take()).toEqual([])

    await given.operate(run).retryCompensation('s1')

    expect(await worker.take()).toMatchObject([{ step: 1, direction: 'undo', failures: 0 }])
    expect(await run.status()).toBe('compensating')
  },

  'an undo that waits for its next try is skipped, and what came before it is undone': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.settle([retry(await worker.claimOf(run, 's1'), 60_000)])

    await given.operate(run).skipCompensation('s1')

    expect(await run.statuses()).toEqual({ s0: 'compensating', s1: 'compensated', s2: 'failed' })
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
    await given.advance(60_001)
    expect(await worker.take()).toEqual([])
  },

  'of a paused undo the next try is brought forward to the resumption, or skipped': async (given) => {
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

  'a compensation that runs, or waits for others, is neither retried nor skipped': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.claimOf(run, 's1')
    const before = await given.snapshot()

    const handle = given.operate(run)
    for (const [act, why] of [
      [() => handle.retryCompensation('s1'), /its compensation is running/],
      [() => handle.skipCompensation('s1'), /its compensation is running/],
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

  'a compensation that is given up in a paused run leaves it paused': async (given) => {
    const { run, worker } = await undoneChain(given)
    await worker.claimOf(run, 's1')
    await given.operate(run).pause()

    await given.operate(run).giveUpStep('s1', { reason: 'it hangs' })

    expect(await run.status()).toBe('paused')
    await given.operate(run).resume()
    expect(await run.status()).toBe('compensation_failed')
  },
}
