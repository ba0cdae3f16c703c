import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { causeText, completed, errorText, failed, PAIR, retry } from '../scenario/index.ts'

export const failCases: Cases = {
  'a failure for good stops its run, with its cause, and cancels the steps that have not begun': async (
    given,
  ) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const claim = await worker.claimOf(run, 'b')
    await given.advance(30)

    const { results, runs, claims } = await worker.settle([failed(claim, 'no stock')], 10)

    expect(results).toEqual(['settled'])
    expect(runs).toMatchObject([{ runId: run.id, status: 'compensating' }])
    expect(claims).toEqual([])
    // c is in flight in the same worker, and continues.
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'failed', c: 'running', d: 'cancelled' })
    const step = await run.step('b')
    expect(step).toMatchObject({ error: errorText('no stock'), workerId: worker.id, output: null })
    expect(step.finishedAt! - step.startedAt!).toBeCloseTo(30, 0)
    expect((await run.record()).cause).toBe(causeText(claim, 'no stock'))
    expect((await run.record()).finishedAt).toBeNull()
  },

  'a step that was ready when its run failed never runs': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    const [claim] = await worker.take(1)

    await worker.settle([failed(claim!)])
    const after = await worker.take()

    expect(after).toEqual([])
    expect(Object.values(await run.statuses()).sort()).toEqual(['cancelled', 'cancelled', 'failed'])
  },

  'a step that a completion has just made ready never runs after its sibling failed': async (given) => {
    const run = await given.start(await given.graph('siblings', { a: [], b: [], c: ['a'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const madeReady = await run.statuses()
    await worker.fail(run, 'b')

    const after = await worker.take()

    expect(madeReady).toMatchObject({ c: 'ready' })
    expect(after).toEqual([])
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'failed', c: 'cancelled' })
  },

  'a completion after its sibling failed is recorded, but starts nothing': async (given) => {
    const run = await given.start(await given.graph('siblings', { a: [], b: [], c: ['a'] }))
    const worker = await given.worker()
    await worker.claimsOf(run, 'a', 'b')
    await worker.fail(run, 'b')

    const late = await worker.settle([completed(await worker.claimOf(run, 'a'), '"late"')], 10)

    expect(late).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'failed', c: 'cancelled' })
    expect((await run.step('a')).output).toBe('"late"')
    expect(await run.status()).toBe('compensating')
    expect(await worker.take()).toEqual([])
  },

  'the last sink that completes in a stopped run does not complete the run': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    await worker.claimsOf(run, 's0', 's1')
    await worker.fail(run, 's0')

    const { runs } = await worker.complete(run, 's1')

    expect(runs).toEqual([])
    expect(await run.status()).toBe('compensating')
  },

  'the first failure is the run’s cause; later failures are recorded on their steps': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [first, second] = await worker.claimsOf(run, 's0', 's1')
    await worker.settle([failed(first!, 'first')])

    const { results, runs } = await worker.settle([failed(second!, 'second')])

    expect(results).toEqual(['settled'])
    expect(runs).toEqual([])
    expect((await run.record()).cause).toBe(causeText(first!, 'first'))
    expect(await run.step('s1')).toMatchObject({ status: 'failed', error: errorText('second') })
  },

  'two failures of one run in a batch are both recorded, under one cause': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 's0', 's1')

    const { results, runs } = await worker.settle([failed(claims[0]!, 'x'), failed(claims[1]!, 'y')])

    expect(results).toEqual(['settled', 'settled'])
    expect(runs).toMatchObject([{ runId: run.id, status: 'compensating' }])
    expect([causeText(claims[0]!, 'x'), causeText(claims[1]!, 'y')]).toContain((await run.record()).cause)
    expect(await run.statuses()).toMatchObject({ s0: 'failed', s1: 'failed' })
  },

  'a failure and a completion of one run in a batch are both recorded, and the run stops': async (given) => {
    const run = await given.start(await given.graph('siblings', { a: [], b: [], c: ['a'], d: ['b'] }))
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(run, 'a', 'b')

    const { results } = await worker.settle([completed(a!), failed(b!)])

    expect(results).toEqual(['settled', 'settled'])
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'failed', c: 'cancelled', d: 'cancelled' })
    expect(await run.status()).toBe('compensating')
    expect(await worker.take()).toEqual([])
  },

  'one batch can stop several runs, and leaves other runs alone': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = [await given.start(graph), await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    // One claim takes all of them. With separate claims, each would wait for steps that another claim got.
    await worker.take()
    const claims = await Promise.all(runs.map((run) => worker.claimOf(run, 'a')))

    const { runs: moved } = await worker.settle([
      failed(claims[2]!),
      completed(claims[1]!),
      failed(claims[0]!),
    ])

    expect(moved.map(({ runId }) => runId).sort()).toEqual([runs[0]!.id, runs[2]!.id])
    expect(await Promise.all(runs.map((run) => run.status()))).toEqual([
      'compensating',
      'running',
      'compensating',
    ])
    expect(await runs[1]!.statuses()).toEqual({ a: 'completed', b: 'ready' })
  },

  'a failure that is repeated answers settled, and changes nothing more': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await worker.settle([failed(claim)])
    const before = await given.snapshot()
    await given.advance(10)

    const again = await worker.settle([failed(claim)])

    expect(again).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect(await given.snapshot()).toEqual(before)
  },

  'a failing run cancels its steps that wait for a retry': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [first, second] = await worker.claimsOf(run, 's0', 's1')
    await worker.settle([retry(first!, 500)])
    await worker.settle([failed(second!)])
    await given.advance(1_000)

    expect(await worker.take()).toEqual([])
    expect(await run.statuses()).toEqual({ s0: 'cancelled', s1: 'failed' })
  },
}
