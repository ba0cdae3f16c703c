import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, failed, PAIR } from '../scenario/index.ts'

/** Runs that are stopped while paused, or paused after they were stopped. */
export const pausedStopCases: Cases = {
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

  'the first failure of a paused run is its cause, and steps that complete afterwards are undone': async (
    given,
  ) => {
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

      expect(await given.adapter.expireRuns({ limit: 10 })).toMatchObject([
        { runId: run.id, status: 'paused' },
      ])

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

  'a stopped run can be paused before its undo begins, and then no plan begins the undo': async (given) => {
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

  'an operator can cancel a paused run that has failed, with or without its undo': async (given) => {
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
          message: expect.stringMatching(/paused before its undo\. Resume it/),
        })
      }
      expect(await given.snapshot()).toEqual(before)
    },
}
