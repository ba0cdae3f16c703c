import type { Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  completed,
  continued,
  failed,
  type Scenario,
  skipped,
  unstorable,
} from '../scenario/index.ts'

/** before → pivot → s0, s1 → last */
const EDGES = { before: [], pivot: ['before'], s0: ['pivot'], s1: ['pivot'], last: ['s0', 's1'] }
const PIVOTS = [1]

export const pivotCases: Cases = {
  'a step that fails after a completed pivot parks its run, and every other step goes on': async (given) => {
    const { run, worker } = await pastPivot(given)
    const [s0, s1] = await worker.claimsOf(run, 's0', 's1')

    const settled = await worker.settle([after(failed(s0!))], 10)

    expect(settled.results).toEqual(['settled'])
    expect(settled.runs).toMatchObject([{ runId: run.id, status: 'parked' }])
    expect(await run.record()).toMatchObject({ status: 'parked', cause: null, finishedAt: null })
    expect(await given.adapter.stopping({ runIds: [run.id] })).toEqual([])
    expect(await given.drain()).toEqual([])
    await worker.settle([completed(s1!)], 10)
    expect(await run.statuses()).toMatchObject({ s0: 'failed', s1: 'completed', last: 'pending' })

    await given.operate(run).retryStep('s0')
    expect(await run.status()).toBe('running')
    expect(await worker.claimOf(run, 's0')).toMatchObject({ attempt: 2, failures: 0, round: 1 })
    await worker.complete(run, 's0')
    await worker.complete(run, 'last')
    expect(await run.status()).toBe('completed')
  },

  'two steps that fail at once after a pivot park their run together': async (given) => {
    const { run, worker } = await pastPivot(given)
    const claims = await worker.claimsOf(run, 's0', 's1')
    const outcomes = claims.map((claim, n) => after(n === 0 ? failed(claim) : unstorable(claim)))

    expect((await worker.settle(outcomes)).results).toEqual(['settled', 'settled'])
    expect((await worker.settle(outcomes)).results).toEqual(['settled', 'settled'])
    expect(await run.step('s1')).toMatchObject({ status: 'failed', succeeded: true })

    await given.operate(run).retry()
    expect(await run.statuses()).toMatchObject({ s0: 'ready', s1: 'ready', last: 'pending' })
  },

  'a retry of a parked run whose map had too few successes runs its failed items again, and then its join':
    async (given) => {
      const edges = { pivot: [], 'm[]': ['pivot'], m: ['m[]'] }
      const facts = { pivot: { pivot: true }, 'm[]': { onFailure: 'continue' } } as const
      const graph = await given.graph('parked-map', edges, 1, { 'm[]': 'map', m: 'join' }, facts)
      const [run, worker] = [await given.start(graph), await given.worker()]
      await worker.complete(run, 'pivot')
      const { runId, step, fence, direction, definitionId } = await worker.claimOf(run, 'm[]')
      const items = ['a', 'b'].map((key) => ({ key, value: null }))
      const ref = { runId, step, fence, direction, definitionId }
      await worker.settle([{ ...ref, type: 'expanded', items, atOnce: 1 }])
      const [a] = await worker.take()
      const [b] = (await worker.settle([completed(a!)], 5)).claims
      const [join] = (await worker.settle([continued(b!)], 5)).claims
      await worker.settle([{ ...failed(join!), pivots: [0] } as Outcome])
      expect(await run.status()).toBe('parked')

      await given.operate(run).retry()
      expect(await run.status()).toBe('running')
      expect(await run.statuses()).toMatchObject({ 'm[a]': 'completed', 'm[b]': 'ready', m: 'pending' })
      const [again] = await worker.take()
      expect(again).toMatchObject({ step: b!.step, attempt: 2, failures: 0 })
      const [joins] = (await worker.settle([completed(again!)], 5)).claims
      expect(joins).toMatchObject({ step: join!.step })
      await worker.settle([completed(joins!)])
      expect(await run.status()).toBe('completed')
    },

  'a step that fails after a skipped pivot stops its run': async (given) => {
    const { run, worker } = await givenRun(given)
    await worker.complete(run, 'before')
    await worker.settle([skipped(await worker.claimOf(run, 'pivot'))])
    const claim = await worker.claimOf(run, 's0')

    const settled = await worker.settle([after(failed(claim))])

    expect(settled.runs).toMatchObject([{ runId: run.id, status: 'compensating' }])
    expect(await run.statuses()).toMatchObject({ before: 'completed', s0: 'failed', last: 'cancelled' })
  },

  'failures of one batch stop some runs and park others': async (given) => {
    const one = await pastPivot(given)
    const other = await givenRun(given)
    const late = await one.worker.claimOf(one.run, 's0')
    const early = await one.worker.claimOf(other.run, 'before')

    const settled = await one.worker.settle([failed(early), after(failed(late))])

    expect(settled.results).toEqual(['settled', 'settled'])
    expect(await one.run.status()).toBe('parked')
    expect(await other.run.status()).toBe('compensating')
  },

  'a late failure after a pivot changes nothing': async (given) => {
    const { run, worker } = await pastPivot(given)
    const claim = await worker.claimOf(run, 's0')
    await given.expireLeases()
    await given.sweep()
    const before = await given.snapshot()

    expect((await worker.settle([after(failed(claim))])).results).toEqual(['lost'])
    expect(await given.snapshot()).toEqual(before)
  },

  'an operator skips the step for which a run is parked, and its dependents begin': async (given) => {
    const { run, worker } = await parked(given)
    await worker.complete(run, 's1')

    await given.operate(run).skipStep('s0', { output: 'stand-in' })

    expect(await run.step('s0')).toMatchObject({ status: 'skipped', output: '"stand-in"' })
    expect(await run.status()).toBe('running')
    await worker.complete(run, 'last')
    expect(await run.status()).toBe('completed')
  },

  'a parked run may be paused: a step that is retried meanwhile begins when the run is resumed': async (
    given,
  ) => {
    const { run, worker } = await parked(given)
    const s1 = await worker.claimOf(run, 's1')
    await given.operate(run).pause()
    expect(await run.status()).toBe('paused')

    await given.operate(run).retryStep('s0')
    await worker.settle([completed(s1)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    await worker.complete(run, 's0')
    await worker.complete(run, 'last')
    expect(await run.status()).toBe('completed')
  },

  'a run is not cancelled after its pivot, unless its effects stay': async (given) => {
    const { run, worker } = await parked(given)
    const { run: other } = await givenRun(given)

    expect(await given.cancel(run, other)).toEqual([other.id])
    expect(await run.status()).toBe('parked')
    await expect(given.operate(run).cancel()).rejects.toThrow(
      `Run ${run.id} cannot be cancelled: its pivot "pivot" has completed, so it cannot be undone any more. Let it go on, or cancel it without its undo (\`compensate: false\`), which leaves every effect as it is.`,
    )

    expect(await given.operate(run).cancel({ compensate: false })).toBe(true)
    await worker.complete(run, 's1')
    const [drained] = await given.drain({ runs: [run] })
    expect(drained).toMatchObject({ stop: 'abandonment' })
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
    expect(await run.status()).toBe('cancelled')
  },

  'a deadline that passes after the pivot is dropped, and the history says so': async (given) => {
    const { run, worker } = await pastPivot(given, { deadlineMs: 5_000 })
    const { run: other } = await givenRun(given, { deadlineMs: 5_000 })
    await given.advance(5_000)

    expect(await given.adapter.expireRuns({ limit: 10 })).toMatchObject([{ runId: other.id }])
    expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])

    expect(await run.record()).toMatchObject({ status: 'running', deadlineAt: null, cause: null })
    const history = await given.adapter.readHistory({ runId: run.id, limit: 10 })
    expect(history).toMatchObject([
      {
        action: 'deadline_dropped',
        actor: null,
        reason: 'The deadline passed after a pivot had completed, so the run goes on.',
      },
    ])
    await worker.complete(run, 's0', 's1')
    await worker.complete(run, 'last')
    expect(await run.status()).toBe('completed')
  },

  'a read of a run tells which effects nothing can undo': async (given) => {
    const marks = { a: { irreversible: true }, 'm[]': { irreversible: true } }
    const edges = { a: [], 'm[]': [], m: ['m[]'] }
    const graph = await given.graph('marked', edges, 1, { 'm[]': 'map', m: 'join' }, marks)
    const run = await given.start(graph)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'm[]')
    const { runId, step, fence, direction, definitionId } = claim
    const ref = { runId, step, fence, direction, definitionId }
    await worker.settle([{ ...ref, type: 'expanded', items: [{ key: '0', value: '1' }], atOnce: null }])

    const { steps } = await run.read()
    expect(steps.filter(({ irreversible }) => irreversible).map(({ name }) => name)).toEqual(['a', 'm[0]'])
  },
}

/** A failure of a step that the pivot comes before. */
function after(outcome: Outcome): Outcome {
  return outcome.type === 'failed' && !outcome.continues ? { ...outcome, pivots: PIVOTS } : outcome
}

type Options = Parameters<Scenario['start']>[1]

async function givenRun(given: Scenario, options?: Options): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const graph = await given.graph('pivot', EDGES, 1, {}, { pivot: { pivot: true } })
  return { run: await given.start(graph, options), worker: await given.worker() }
}

/** Its pivot has completed. */
async function pastPivot(given: Scenario, options?: Options) {
  const found = await givenRun(given, options)
  await found.worker.complete(found.run, 'before')
  await found.worker.complete(found.run, 'pivot')
  return found
}

/** s0 has failed, and s1 is claimed. */
async function parked(given: Scenario) {
  const found = await pastPivot(given)
  const [s0] = await found.worker.claimsOf(found.run, 's0', 's1')
  await found.worker.settle([after(failed(s0!))])
  return found
}
