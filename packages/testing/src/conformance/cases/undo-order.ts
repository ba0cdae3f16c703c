import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  compensated,
  type Edges,
  errorText,
  parked,
  relayed,
  type Scenario,
} from '../scenario/index.ts'

export const undoOrderCases: Cases = {
  'a diamond is undone backwards, its branches in parallel': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
    await given.undo(run)

    const first = await stepsOf(worker, run)
    await worker.compensate(run, 'd')
    const second = await stepsOf(worker, run)
    await worker.compensate(run, 'b')
    const tooEarly = await stepsOf(worker, run)
    await worker.compensate(run, 'c')
    const third = await stepsOf(worker, run)
    const last = await worker.compensate(run, 'a')

    expect([first, second, tooEarly, third]).toEqual([['d'], ['b', 'c'], [], ['a']])
    expect(last.runs).toMatchObject([{ runId: run.id, status: 'compensated' }])
    expect(await run.statuses()).toMatchObject({
      a: 'compensated',
      b: 'compensated',
      c: 'compensated',
      d: 'compensated',
    })
  },

  'a run ends with the last of its undos, at that time': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: [] })
    await given.undo(run)
    const first = await worker.compensate(run, 'a')
    await given.advance(20)

    const second = await worker.compensate(run, 'b')

    expect(first.runs).toEqual([])
    expect(second.runs).toMatchObject([{ runId: run.id, status: 'compensated' }])
    const { finishedAt } = await run.record()
    expect(finishedAt! - (await run.step('a')).finishedAt!).toBeCloseTo(20, 0)
  },

  'a cancelled run ends as cancelled after its undo': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)

    const { runs } = await worker.compensate(run, 'a')

    expect(runs).toMatchObject([{ runId: run.id, status: 'cancelled' }])
    expect(await run.statuses()).toEqual({ a: 'compensated', b: 'cancelled' })
  },

  'two undos that end in one batch make the step that waits for both claimable once': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: ['a'] })
    await given.undo(run)
    const claims = await worker.claimsOf(run, 'b', 'c')

    await worker.settle([...claims, ...claims].map(compensated))

    expect(await stepsOf(worker, run)).toEqual(['a'])
    expect(await stepsOf(worker, run)).toEqual([])
  },

  'undos that become claimable are leased to the settling worker': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'] })
    await given.undo(run)

    const { claims, queued } = await worker.settle([compensated(await worker.claimOf(run, 'b'))], 5)

    expect(claims).toMatchObject([{ step: 0, direction: 'undo', undoOf: 'completed', fence: 2 }])
    expect(queued).toBe(false)
    expect(await run.step('a')).toMatchObject({ status: 'compensating', workerId: worker.id })
    expect(await (await given.worker()).take()).toEqual([])
  },

  'an undo that is settled twice answers settled, and counts once': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: ['a'] })
    await given.undo(run)
    const claim = await worker.claimOf(run, 'b')
    await worker.settle([compensated(claim)])
    const before = await given.snapshot()
    await given.advance(10)

    const again = await worker.settle([compensated(claim)], 5)

    expect(again).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect(await given.snapshot()).toEqual(before)
    expect((await run.step('a')).openDependencies).toBe(1)
  },

  'a relay keeps the order, and its step returns to its earlier status': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: ['b'] })
    await given.undo(run)
    await worker.compensate(run, 'c')
    const waiting = (await run.step('a')).status
    const claim = await worker.claimOf(run, 'b')

    const { results } = await worker.settle([relayed(claim)])
    const again = await worker.settle([relayed(claim)])

    expect(waiting).toBe('compensating')
    expect(results).toEqual(['settled'])
    expect(again.results).toEqual(['settled'])
    expect(await run.step('b')).toMatchObject({ status: 'completed', undoOf: null, output: '"output"' })
    expect((await worker.compensate(run, 'a')).runs).toMatchObject([{ runId: run.id, status: 'compensated' }])
  },

  'a run whose last undo is a relay ends with it': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'] })
    await given.undo(run)
    await worker.compensate(run, 'b')

    const { runs } = await worker.settle([relayed(await worker.claimOf(run, 'a'))])

    expect(runs).toMatchObject([{ runId: run.id, status: 'compensated' }])
    expect(await run.statuses()).toMatchObject({ a: 'completed', b: 'compensated' })
  },

  'steps that failed or were cancelled can be undone and relayed like completed ones': async (given) => {
    const run = await given.start(await given.graph('mixed', { a: [], b: ['a'], c: ['b'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.fail(run, 'b')
    await given.undo(run, { steps: ['a', 'b', 'c'] })

    const [c] = await worker.take()
    await worker.settle([relayed(c!, 'cancelled')])
    const [b] = await worker.take()
    await worker.compensate(run, 'b')
    await worker.compensate(run, 'a')

    expect(c).toMatchObject({ step: 2, fence: 1, undoOf: 'cancelled' })
    expect(b).toMatchObject({ step: 1, fence: 2, undoOf: 'failed' })
    expect(await run.statuses()).toEqual({ a: 'compensated', b: 'compensated', c: 'cancelled' })
    expect((await run.step('b')).undoOf).toBe('failed')
    expect(await run.status()).toBe('compensated')
  },

  'the order of undos is kept when steps between them are not undone': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: [] })
    await given.undo(run, { steps: ['b', 'c'] })

    expect(await stepsOf(worker, run)).toEqual(['b', 'c'])
    await worker.compensate(run, 'b', 'c')

    expect(await run.statuses()).toMatchObject({ a: 'completed', b: 'compensated', c: 'compensated' })
    expect(await run.status()).toBe('compensated')
  },

  'an undo that fails for good parks the run, and undos that depend on it wait': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'] })
    await given.undo(run)
    const claim = await worker.claimOf(run, 'b')

    const { results, runs } = await worker.settle([parked(claim, 'refund refused')])
    const again = await worker.settle([parked(claim, 'refund refused')])

    expect(results).toEqual(['settled'])
    expect(again).toMatchObject({ results: ['settled'], runs: [] })
    expect(runs).toMatchObject([{ runId: run.id, status: 'compensation_failed' }])
    expect(await run.step('b')).toMatchObject({
      status: 'compensation_failed',
      undoOf: 'completed',
      error: null,
      undo: { error: errorText('refund refused') },
    })
    expect(await run.step('a')).toMatchObject({ status: 'compensating', openDependencies: 1 })
    expect(await worker.take()).toEqual([])
  },

  'undos of independent branches continue after one has failed': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: [], d: ['c'] })
    await given.undo(run)
    await worker.claimsOf(run, 'b', 'd')
    await worker.settle([parked(await worker.claimOf(run, 'b'))])

    const going = await worker.settle([compensated(await worker.claimOf(run, 'd'))], 5)
    const last = await worker.compensate(run, 'c')

    expect(going.claims).toMatchObject([{ step: 2, direction: 'undo' }])
    expect(last).toMatchObject({ results: ['settled'], runs: [] })
    expect(await run.statuses()).toMatchObject({
      a: 'compensating',
      b: 'compensation_failed',
      c: 'compensated',
      d: 'compensated',
    })
    expect(await run.status()).toBe('compensation_failed')
  },

  'an undo of a parked run that was not yet leased can be claimed': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'], c: [], d: ['c'] })
    await given.undo(run)
    const [b] = await worker.claimsOf(run, 'b')
    await worker.settle([parked(b!)])
    await worker.compensate(run, 'd')

    expect(await stepsOf(worker, run)).toEqual(['c'])
  },

  'a second undo that fails leaves the run parked': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: [] })
    await given.undo(run)
    await worker.settle([parked(await worker.claimOf(run, 'a'))])

    const { results, runs } = await worker.settle([parked(await worker.claimOf(run, 'b'))])

    expect(results).toEqual(['settled'])
    expect(runs).toEqual([])
    expect(await run.status()).toBe('compensation_failed')
  },

  'an undo whose worker died is repeated by another worker, with one loss': async (given) => {
    const { run, worker } = await failedAtTheEnd(given, { a: [], b: ['a'] })
    await given.undo(run)
    await worker.take()
    await given.expireLeases()
    await given.sweep()
    const lost = await run.step('b')
    const heir = await given.worker()

    const claims = await heir.take()
    await heir.compensate(run, 'b')
    await heir.compensate(run, 'a')

    expect(lost).toMatchObject({
      status: 'compensating',
      workerId: null,
      undo: { losses: 1 },
      undoOf: 'completed',
    })
    expect(claims).toMatchObject([{ step: 1, direction: 'undo', attempt: 2, failures: 0, losses: 1 }])
    expect(await run.status()).toBe('compensated')
  },

  'two undos that end at the same moment in two processes make the step that waits for both claimable once':
    withSecond(async (given, second) => {
      const graph = await given.graph('vee', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
      for (let round = 0; round < 5; round += 1) {
        const run = await given.start(graph)
        const [one, two] = [await given.worker(), await given.worker(second)]
        await one.complete(run, 'a')
        await one.complete(run, 'b', 'c')
        await one.fail(run, 'd')
        await given.undo(run)
        const mine = graph.nameOf((await one.take(1))[0]!.step)
        const theirs = graph.nameOf((await two.take(1))[0]!.step)

        await Promise.all([one.compensate(run, mine), two.compensate(run, theirs)])

        expect(await stepsOf(one, run)).toEqual(['a'])
        expect((await one.compensate(run, 'a')).runs).toMatchObject([
          { runId: run.id, status: 'compensated' },
        ])
      }
    }),
}

/** A run in which everything in `edges` completed, then a last step that depends on all of it failed. Nothing is in flight. */
async function failedAtTheEnd(given: Scenario, edges: Edges): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const names = Object.keys(edges)
  const run = await given.start(await given.graph('failing', { ...edges, end: names }))
  const worker = await given.worker()
  for (const name of names) await worker.complete(run, name)
  await worker.fail(run, 'end')
  return { run, worker }
}

/** Names of the steps that can be claimed now, in order. */
async function stepsOf(worker: CaseWorker, run: CaseRun): Promise<readonly string[]> {
  return (await worker.take()).map(({ step }) => run.graph.nameOf(step)).sort()
}
