import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  completed,
  errorText,
  parked,
  relayed,
  released,
  retry,
  type Scenario,
  waiting,
} from '../scenario/index.ts'

export const attemptCases: Cases = {
  'attempts count 1, 2, 3, including failed and lost ones, and a step that ended keeps its number': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    const numbers: number[] = []
    const first = await worker.claimOf(run, 'a')
    numbers.push(first.attempt)
    await worker.settle([retry(first, 0)])
    numbers.push((await worker.claimOf(run, 'a')).attempt)
    await given.expireLeases()
    await given.sweep()
    const heir = await given.worker()
    numbers.push((await heir.claimOf(run, 'a')).attempt)
    await heir.complete(run, 'a')

    expect(numbers).toEqual([1, 2, 3])
    expect(await run.step('a')).toMatchObject({ attempts: 3, failures: 1, losses: 1, round: 1, undo: null })
    expect(await run.step('b')).toMatchObject({ attempts: 0, round: 1 })
  },

  'an attempt whose handler was not called does not count; one that was released later does': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()

    await worker.settle([released(await worker.claimOf(run, 'a'), false)])
    const before = await run.step('a')
    const [again] = await worker.claimsOf(run, 'a')
    await worker.settle([released(again!, true)])
    const [third] = await worker.claimsOf(run, 'a')

    expect(before).toMatchObject({ attempts: 0, failures: 0 })
    expect([again!.attempt, third!.attempt]).toEqual([1, 2])
  },

  'each check of a condition counts its own attempts': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    const [second] = await worker.claimsOf(run, 'a')
    await worker.settle([waiting(second!, { afterMs: 10 })])
    const waits = await run.step('a')
    await given.advance(10)

    const [next] = await worker.claimsOf(run, 'a')

    expect(second!.attempt).toBe(2)
    expect(waits).toMatchObject({ status: 'waiting', attempts: 0, failures: 0 })
    expect(next!.attempt).toBe(1)
  },

  'a claim that held finds again is unchanged': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    const taken = await worker.take()

    expect(await worker.held()).toEqual(taken)
    expect(taken).toMatchObject([{ attempt: 2, round: 1, failures: 1 }])
  },

  'an undo keeps the times, the counts and the error of the forward direction': async (given) => {
    const { run, worker } = await undoing(given)
    const forward = await run.step('b')
    await given.advance(1_000)

    await worker.settle([retry(await worker.claimOf(run, 'b'), 20, 'refund is busy')])
    await given.advance(50)
    await worker.claimsOf(run, 'b')
    await given.advance(70)
    await worker.compensate(run, 'b')

    const { attempts, failures, losses, startedAt, finishedAt, error, round } = forward
    const undone = await run.step('b')
    expect(undone).toMatchObject({ status: 'compensated', undoOf: 'completed' })
    expect(undone).toMatchObject({ attempts, failures, losses, startedAt, finishedAt, error, round })
    expect({ attempts, failures, error }).toEqual({ attempts: 2, failures: 1, error: errorText('busy') })
    expect(undone.undo).toMatchObject({
      attempts: 2,
      failures: 1,
      losses: 0,
      error: errorText('refund is busy'),
      skipped: false,
    })
    expect(undone.undo!.startedAt! - finishedAt!).toBeGreaterThanOrEqual(1_050)
    expect(undone.undo!.finishedAt! - undone.undo!.startedAt!).toBeCloseTo(70, 0)
  },

  'an undo that fails for good, or loses its worker, keeps the forward facts too': async (given) => {
    const { run, worker } = await undoing(given)
    const { startedAt, finishedAt, attempts, failures, losses, error } = await run.step('b')
    await worker.claimsOf(run, 'b')
    await given.expireLeases()
    await given.sweep()
    const heir = await given.worker()

    await heir.settle([parked(await heir.claimOf(run, 'b'), 'cannot')])

    const parkedStep = await run.step('b')
    expect(parkedStep).toMatchObject({ startedAt, finishedAt, attempts, failures, losses, error })
    expect(parkedStep.undo).toMatchObject({ attempts: 2, failures: 0, losses: 1, error: errorText('cannot') })
  },

  'a step that an undo leaves out keeps its forward row': async (given) => {
    const { run, worker } = await undoing(given)
    const { fence: _, workerId: __, ...forward } = await run.step('b')
    await given.advance(1_000)

    await worker.settle([released(await worker.claimOf(run, 'b'))])
    await worker.settle([relayed(await worker.claimOf(run, 'b'))])

    const { fence: ___, workerId: ____, ...passedBy } = await run.step('b')
    // A past due time says nothing about what happened.
    const again = { status: 'completed', undoOf: null, undo: null, availableAt: null }
    expect({ ...passedBy, availableAt: null }).toEqual({ ...forward, ...again })
    expect(await worker.take()).toMatchObject([{ step: 0, direction: 'undo', attempt: 1 }])
  },

  'another round begins with its first attempt, and without facts of the undo': async (given) => {
    const { run, worker } = await undoing(given)
    await worker.compensate(run, 'b')
    await worker.compensate(run, 'a')
    const before = await run.step('b')

    await given.operate(run).retry()

    expect(await run.step('b')).toMatchObject({
      ...{ round: 2, attempts: 0, failures: 0, undo: null, undoOf: null },
      ...{ startedAt: null, finishedAt: null },
    })
    expect((await run.step('b')).fence).toBeGreaterThan(before.fence)
    expect(await worker.claimOf(run, 'a')).toMatchObject({ round: 2, attempt: 1 })
  },

  'a step starts no earlier than its dependencies ended, in whatever order locks are taken': async (
    given,
  ) => {
    const run = await given.start(await given.graph('join', { a: [], b: [], c: ['a', 'b'] }))
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(run, 'a', 'b')
    await given.advance(5)

    await Promise.all([worker.settle([completed(a!)], 5), worker.settle([completed(b!)], 5)])

    const { steps } = await run.read()
    const lastEnd = Math.max(steps[0]!.finishedAt!, steps[1]!.finishedAt!)
    expect(steps[2]!.startedAt!).toBeGreaterThanOrEqual(lastEnd)
  },
}

/** a → b → c: b completed at its second attempt and c failed. a and b are to be undone, b first. */
async function undoing(given: Scenario) {
  const run = await given.start(await given.graph('abc', { a: [], b: ['a'], c: ['b'] }))
  const worker = await given.worker()
  await worker.complete(run, 'a')
  await worker.settle([retry(await worker.claimOf(run, 'b'), 0, 'busy')])
  await worker.claimsOf(run, 'b')
  await given.advance(300)
  await worker.complete(run, 'b')
  await worker.fail(run, 'c')
  await given.undo(run)
  return { run, worker }
}
