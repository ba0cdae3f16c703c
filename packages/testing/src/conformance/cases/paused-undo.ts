import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, failed, LEASE_MS, PAIR, parked, relayed, released, retry } from '../scenario/index.ts'
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

async function openDependencies(run: CaseRun): Promise<readonly number[]> {
  return (await run.read()).steps.map((step) => step.openDependencies)
}

export const pausedUndoCases: Cases = {
  'a paused run whose step in flight fails stays paused, with its cause, and is undone once it is resumed':
    async (given) => {
      const run = await given.start(await given.graph('branches', { a: [], b: [], c: ['a', 'b'] }))
      const worker = await given.worker()
      await worker.complete(run, 'a')
      const claim = await worker.claimOf(run, 'b')
      await given.operate(run).pause()

      const settlement = await worker.settle([failed(claim)])

      expect(settlement).toMatchObject({ results: ['settled'], runs: [] })
      expect(await run.statuses()).toEqual({ a: 'completed', b: 'failed', c: 'cancelled' })
      expect(await run.record()).toMatchObject({ status: 'paused', cause: expect.stringMatching(/broken/) })
      expect(await given.adapter.stopping({ runIds: [run.id] })).toEqual([run.id])
      expect(await given.drain()).toEqual([])
      expect(await given.operate(run).resume()).toBe(true)
      expect(await run.status()).toBe('compensating')
      await given.undo(run)
      await worker.compensate(run, 'a')
      expect(await run.status()).toBe('compensated')
    },

  'the first failure of a paused run is its cause, and what ends well after it is undone': async (given) => {
    const run = await given.start(await given.graph('loose three', { a: [], b: [], c: [] }))
    const worker = await given.worker()
    const [a, b, c] = await worker.claimsOf(run, 'a', 'b', 'c')
    await given.operate(run).pause()

    await worker.settle([failed(a!, 'first')])
    await worker.settle([failed(b!, 'second')])
    await worker.settle([completed(c!)])

    expect(await run.record()).toMatchObject({ status: 'paused', cause: expect.stringMatching(/first/) })
    await given.operate(run).resume()
    await given.undo(run)
    await worker.compensate(run, 'c')
    expect(await run.status()).toBe('compensated')
  },

  'a paused run whose deadline passes stays paused, takes no signal, and is undone once it is resumed':
    async (given) => {
      const run = await given.start(await given.graph('pair', PAIR), { deadlineMs: 1_000 })
      const worker = await given.worker()
      const claim = await worker.claimOf(run, 'a')
      await given.operate(run).pause()
      await given.advance(1_001)

      expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([run.id])

      expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])
      const upcoming = await given.adapter.upcoming({ definitionIds: [run.graph.id] })
      expect(upcoming.deadlineInMs).toBeNull()
      expect(await run.record()).toMatchObject({ status: 'paused', cause: expect.stringMatching(/deadline/) })
      expect(await given.signal(run, 'a')).toMatchObject({ result: 'ignored', reason: 'run_over' })
      await worker.settle([completed(claim)], 10)
      expect(await run.status()).toBe('paused')
      await given.operate(run).resume()
      await given.undo(run)
      await worker.compensate(run, 'a')
      expect(await run.status()).toBe('compensated')
    },

  'a run that has been stopped can be paused before its undo begins, and no plan begins it': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    const [drained] = await given.drain()
    const plan = { runId: run.id, fences: drained!.fences, endsAs: 'cancelled' as const }
    const undos = [{ step: 0, openDependents: 0 }]

    expect(await given.operate(run).pause()).toBe(true)

    expect(await given.drain()).toEqual([])
    expect(await given.adapter.beginUndo([{ ...plan, undos }])).toEqual([])
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'cancelled' })
    await given.operate(run).resume()
    expect(await given.adapter.beginUndo([{ ...plan, undos }])).toMatchObject([{ runId: run.id }])
    await worker.compensate(run, 'a')
    expect(await run.status()).toBe('cancelled')
  },

  'nothing of a paused undo begins, what is in flight ends, and all goes on once it is resumed': async (
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

  'an undo that was queued when its run was paused is claimed after the resumption': async (given) => {
    const { run, worker } = await undoneChain(given)

    await given.operate(run).pause()
    // The claim that meets it drops the hint.
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    expect(await run.status()).toBe('compensated')
  },

  'an undo that comes back while its run is paused is claimed after the resumption, at its time': async (
    given,
  ) => {
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

  'an undo whose worker died while its run was paused is claimed after the resumption': async (given) => {
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

  'an undo that ends while it is paused ends its run': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    const claim = await worker.claimOf(run, 'a')
    await given.operate(run).pause()

    const settlement = await worker.settle([{ ...claim, type: 'compensated' }])

    expect(settlement.runs).toEqual([{ runId: run.id, status: 'cancelled' }])
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })
  },

  'a relay that ends while its run is paused hands nothing out': async (given) => {
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

  'a paused run that has failed is cancelled by an operator, with or without its undo': async (given) => {
    const graph = await given.graph('branches', { a: [], b: [], c: ['a', 'b'] })
    const worker = await given.worker()
    const stopped = async () => {
      const run = await given.start(graph)
      await worker.complete(run, 'a')
      const claim = await worker.claimOf(run, 'b')
      await given.operate(run).pause()
      await worker.settle([failed(claim)])
      return run
    }
    const [undone, left] = [await stopped(), await stopped()]

    expect(await given.operate(undone).cancel({ reason: 'enough' })).toBe(true)
    expect(await given.operate(undone).cancel()).toBe(false)
    expect(await given.operate(left).cancel({ compensate: false })).toBe(true)

    expect(await undone.record()).toMatchObject({
      status: 'compensating',
      cause: expect.stringMatching(/enough/),
    })
    const [cancelled] = (await given.operate(undone).history()).slice(-1)
    expect(cancelled).toMatchObject({
      action: 'cancel',
      reason: 'enough',
      change: { compensate: true, cause: { type: 'step_failed' } },
    })
    expect((await given.drain()).map(({ stop }) => stop).sort()).toEqual(['abandonment', 'cancellation'])
    await given.undo(undone)
    await worker.compensate(undone, 'a')
    expect(await undone.status()).toBe('cancelled')
  },

  'a plan that was made before a failed run was cancelled begins nothing': async (given) => {
    const run = await given.chain(2)
    const worker = await given.worker()
    await worker.complete(run, 's0')
    await worker.fail(run, 's1')
    const [{ fences } = {}] = await given.drain()
    await given.operate(run).pause()
    await given.operate(run).cancel({ compensate: false })

    const undos = [{ step: 0, openDependents: 0 }]
    const begun = await given.adapter.beginUndo([{ runId: run.id, fences, endsAs: 'compensated', undos }])

    expect(begun).toEqual([])
    expect(await run.statuses()).toEqual({ s0: 'completed', s1: 'failed' })
  },

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

  'a paused run that was stopped is neither retried nor moved, nor are its steps, until it is resumed':
    async (given) => {
      const run = await given.pair()
      const worker = await given.worker()
      const claim = await worker.claimOf(run, 'a')
      await given.operate(run).pause()
      await worker.settle([failed(claim)])
      const before = await given.snapshot()

      const handle = given.operate(run)
      for (const act of [() => handle.retry(), () => handle.retryStep('a'), () => handle.skipStep('a')]) {
        await expect(act()).rejects.toMatchObject({
          code: 'action_refused',
          message: expect.stringMatching(/paused before its undo\. Resume it with resume\(\)/),
        })
      }
      expect(await given.snapshot()).toEqual(before)
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
