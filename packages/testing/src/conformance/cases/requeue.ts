import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, errorText, released, retry, type Scenario } from '../scenario/index.ts'

const A_MONTH_MS = 30 * 86_400_000

export const requeueCases: Cases = {
  'a retry requeues the step for later, with one more failure': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()

    const { results, claims } = await worker.settle([retry(await worker.claimOf(run, 'a'), 2_000, 'busy')])

    expect(results).toEqual(['settled'])
    expect(claims).toEqual([])
    const step = { status: 'ready', fence: 1, failures: 1, losses: 0, workerId: null }
    expect(await run.step('a')).toMatchObject({ ...step, error: errorText('busy') })
    expect(await worker.take()).toEqual([])
    await given.advance(2_000)
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2, failures: 1, losses: 0 }])
  },

  'failures and attempts add up': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    }
    expect(await run.step('a')).toMatchObject({ fence: 4, failures: 4 })
    expect(await worker.take()).toMatchObject([{ fence: 5, failures: 4 }])
  },

  'a retry without delay can be claimed at once': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    expect(await worker.take()).toHaveLength(1)
  },

  'a retry in a month waits for a month': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), A_MONTH_MS)])

    await given.advance(A_MONTH_MS - 1_000)
    const early = await worker.take()
    await given.advance(1_000)

    expect(early).toEqual([])
    expect(await worker.take()).toHaveLength(1)
  },

  'a release requeues the step at once, and counts no failure': async (given) => {
    const run = await given.pair()
    const [worker, other] = [await given.worker(), await given.worker()]

    await worker.settle([released(await worker.claimOf(run, 'a'))])

    expect(await run.step('a')).toMatchObject({ status: 'ready', failures: 0, losses: 0, workerId: null })
    expect(await other.take()).toMatchObject([{ step: 0, fence: 2, failures: 0, losses: 0 }])
  },

  'a retry that is repeated answers settled, and counts once': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const outcome = retry(await worker.claimOf(run, 'a'), 500)
    await worker.settle([outcome])
    const before = await given.snapshot()
    await given.advance(10)

    const again = await worker.settle([outcome])

    expect(again).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect(await given.snapshot()).toEqual(before)
    await given.advance(490)
    expect(await worker.take()).toHaveLength(1)
  },

  'a release that is repeated answers settled, and makes the step ready once': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const outcome = released(await worker.claimOf(run, 'a'))
    await worker.settle([outcome])

    const again = await worker.settle([outcome])

    expect(again.results).toEqual(['settled'])
    expect(await worker.take()).toHaveLength(1)
    expect(await worker.take()).toEqual([])
  },

  'retries, releases and other outcomes settle in one batch': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    const [first, second, third] = await worker.claimsOf(run, 's0', 's1', 's2')

    const { results } = await worker.settle([
      retry(first!, 100),
      { ...third!, type: 'completed', output: '3' },
      released(second!),
    ])

    expect(results).toEqual(['settled', 'settled', 'settled'])
    expect(await run.statuses()).toEqual({ s0: 'ready', s1: 'ready', s2: 'completed' })
    expect(await worker.take()).toMatchObject([{ step: 1 }])
  },

  'several retries of one batch each wait for their own due time': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 's0', 's1', 's2')
    await worker.settle(claims.map((claim, n) => retry(claim, (3 - n) * 100)))

    const order: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      await given.advance(100)
      order.push(...(await worker.take()).map(({ step }) => step))
    }

    expect(order).toEqual([2, 1, 0])
  },

  'a handed-back step waits for its due time when it is retried': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const { claims } = await worker.settle([completed(await worker.claimOf(run, 'a'))], 5)

    await worker.settle([retry(claims[0]!, 800)])
    const early = await worker.take()
    await given.advance(800)

    expect(early).toEqual([])
    expect(await worker.take()).toMatchObject([{ step: 1, fence: 2, failures: 1 }])
    expect(await worker.take()).toEqual([])
  },

  'in a stopped run, a step that asks for a retry is cancelled instead': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [first] = await worker.claimsOf(run, 's0', 's1')
    await worker.fail(run, 's1')

    const { results } = await worker.settle([retry(first!, 0)])
    const claims = await worker.take()
    const [drained] = await given.drain()

    expect(results).toEqual(['settled'])
    expect(claims).toEqual([])
    expect(drained?.steps).toEqual([
      { step: 0, status: 'cancelled', started: true, succeeded: false },
      { step: 1, status: 'failed', started: true, succeeded: false },
    ])
  },

  'an undo that is retried waits for its due time, and counts its own failures': async (given) => {
    const { run, worker } = await undoing(given)

    await worker.settle([retry(await worker.claimOf(run, 'a'), 400, 'busy')])
    const early = await worker.take()
    await given.advance(400)
    const due = await worker.take()

    expect(early).toEqual([])
    expect(due).toMatchObject([
      { direction: 'undo', undoOf: 'completed', attempt: 2, failures: 1, losses: 0 },
    ])
    expect(await run.step('a')).toMatchObject({
      status: 'compensating',
      undoOf: 'completed',
      attempts: 2,
      failures: 1,
      undo: { attempts: 2, failures: 1 },
    })
  },

  'an undo that is released can be claimed at once, and counts no failure': async (given) => {
    const { run, worker } = await undoing(given)
    await worker.settle([released(await worker.claimOf(run, 'a'))])

    expect(await run.step('a')).toMatchObject({
      status: 'compensating',
      workerId: null,
      undo: { attempts: 1, failures: 0 },
    })
    expect(await (await given.worker()).take()).toMatchObject([
      { direction: 'undo', attempt: 2, failures: 0 },
    ])
  },

  'a retry of an undo that is repeated answers settled, and counts once': async (given) => {
    const { run, worker } = await undoing(given)
    const outcome = retry(await worker.claimOf(run, 'a'), 0)
    await worker.settle([outcome])
    const before = await given.snapshot()

    const again = await worker.settle([outcome])

    expect(again.results).toEqual(['settled'])
    expect(await given.snapshot()).toEqual(before)
    expect(await worker.take()).toMatchObject([{ failures: 1 }])
  },
}

/** a → b: a completed at its second attempt, b failed, and a is to be undone. */
async function undoing(given: Scenario) {
  const run = await given.pair()
  const worker = await given.worker()
  await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
  await worker.complete(run, 'a')
  await worker.fail(run, 'b')
  await given.undo(run)
  return { run, worker }
}
