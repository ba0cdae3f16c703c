import type { WorkflowDefinition } from '@belay/workflow'
import { itemNumber, type Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  compensated,
  completed,
  continued,
  errorText,
  failed,
  type Graph,
  released,
  type Scenario,
  skipped,
} from '../scenario/index.ts'

const SPLIT = { a: [], b: ['a'], c: [] }

export const continuedCases: Cases = {
  'a step that failed and continues keeps its error, and its dependents begin': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)

    const settled = await worker.settle([continued(claim, 'declined')], 10)

    expect(settled.results).toEqual(['settled'])
    expect(settled.claims).toMatchObject([{ step: 1, fence: 1, attempt: 1 }])
    expect(settled.runs).toEqual([])
    expect(await run.step('a')).toMatchObject({
      status: 'failed',
      error: errorText('declined'),
      output: null,
    })
    expect((await run.step('a')).finishedAt).not.toBeNull()
    expect((await run.read()).run).toMatchObject({ status: 'running', cause: null })
  },

  'a dependent of a failed, a skipped and a completed step becomes ready once all have ended': async (
    given,
  ) => {
    const run = await given.start(await given.graph('joined', { a: [], b: [], c: [], d: ['a', 'b', 'c'] }))
    const worker = await given.worker()
    const [a, b, c] = await worker.claimsOf(run, 'a', 'b', 'c')
    expect((await worker.settle([continued(a!), completed(b!)], 10)).claims).toEqual([])

    expect((await worker.settle([skipped(c!)], 10)).claims).toMatchObject([{ step: 3 }])
  },

  'a run whose last step failed and continues is completed': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    const { claims } = await worker.settle([completed(claim)], 10)

    const settled = await worker.settle([continued(claims[0]!)])

    expect(settled.runs).toMatchObject([{ runId: run.id, status: 'completed' }])
    expect((await run.read()).run).toMatchObject({ status: 'completed', cause: null })
  },

  'a failure that is settled again, after a lost answer, counts once': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([continued(claim)])
    const before = await run.read()

    expect((await worker.settle([continued(claim)])).results).toEqual(['settled'])
    expect(await run.read()).toEqual(before)
  },

  'a late failure of an attempt that lost its step changes nothing': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await given.expireLeases()
    await given.sweep()
    await (await given.worker()).claimOf(run, 'a')
    const before = await run.read()

    expect((await worker.settle([continued(claim)])).results).toEqual(['lost'])
    expect(await run.read()).toEqual(before)
  },

  'in one call, a failure that stops the run comes before one that would continue it': async (given) => {
    const run = await given.start(await given.graph('split', SPLIT))
    const worker = await given.worker()
    const [a, c] = await worker.claimsOf(run, 'a', 'c')

    const settled = await worker.settle([continued(a!), failed(c!)], 10)

    expect(settled).toMatchObject({ results: ['settled', 'settled'], claims: [] })
    expect(await run.statuses()).toEqual({ a: 'failed', b: 'cancelled', c: 'failed' })
    expect(await run.status()).toBe('compensating')
  },

  'a failure of which the effect is there says so, and is undone when the run stops': async (given) => {
    const run = await given.start(await given.graph('split', SPLIT))
    const worker = await given.worker()
    const [a, c] = await worker.claimsOf(run, 'a', 'c')
    await worker.settle([{ ...continued(a!), succeeded: true } as Outcome])
    expect(await run.step('a')).toMatchObject({ status: 'failed', succeeded: true })
    await worker.settle([failed(c!)])

    const [drained] = await given.drain({ runs: [run] })

    expect(drained!.steps[0]).toEqual({ step: 0, status: 'failed', started: true, succeeded: true })
    await given.undo(run, { steps: ['a'] })
    const undo = await worker.claimOf(run, 'a')
    expect(undo).toMatchObject({ direction: 'undo', undoOf: 'failed' })
    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [0, 1], branches: true }])
    expect(loaded!.steps.map((step) => step.failed)).toEqual([true, false])
    await worker.settle([compensated(undo)])
    expect(await run.status()).toBe('compensated')
  },

  'a failure in a paused run is counted, and its dependents begin once the run is resumed': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await given.operate(run).pause()
    expect((await worker.settle([continued(claim)], 10)).claims).toEqual([])

    await given.operate(run).resume()

    expect(await worker.claimOf(run, 'b')).toMatchObject({ step: 1 })
  },

  'the failure of an item counts for the join, and makes the next item ready': async (given) => {
    const graph = await given.graph('mapped', { 'm[]': [], m: ['m[]'] }, 1, { 'm[]': 'map', m: 'join' })
    const run = await given.start(graph)
    const worker = await given.worker()
    const items = ['x', 'y'].map((key) => ({ key, value: '1' }))
    const { runId, step, fence, direction, definitionId } = await worker.claimOf(run, 'm[]')
    const opener = { runId, step, fence, direction, definitionId }
    await worker.settle([{ ...opener, type: 'expanded', items, atOnce: 1 }])
    const [first] = await worker.take()

    await worker.settle([continued(first!)])

    const [second] = await worker.take()
    expect(second).toMatchObject({ step: itemNumber(0, 1) })
    expect((await worker.settle([continued(second!)], 10)).claims).toMatchObject([{ step: 1 }])
  },

  'the failure is kept as an attempt, with its error': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    const keep = { workerId: worker.id, handBackMax: 0, keepAttempts: true }

    await given.adapter.settle({ ...keep, outcomes: [continued(claim, 'declined')] })

    expect(await given.adapter.readAttempts({ runId: run.id, limit: 10 })).toMatchObject([
      { step: 0, ended: 'failed', attempt: 1, error: errorText('declined') },
    ])
  },

  'a retried run keeps a failure that was told to a step which is kept, and runs others again': async (
    given,
  ) => {
    const { run, worker } = await stoppedAfter(given)
    await given.undo(run, { steps: [] })

    await given.operate(run).retry()

    expect(await run.statuses()).toEqual({
      ...{ told: 'failed', uses: 'completed', untold: 'ready', stops: 'ready', last: 'pending' },
    })
    await worker.settle([completed(await worker.claimOf(run, 'untold'))])
    await worker.settle([completed(await worker.claimOf(run, 'stops'))])
    await worker.settle([completed(await worker.claimOf(run, 'last'))])
    expect(await run.status()).toBe('completed')
  },

  'the step itself is not retried while the effect of a step that was told of its failure stands': async (
    given,
  ) => {
    const { run } = await stoppedAfter(given)
    await given.undo(run, { steps: [] })

    const retried = given.operate(run).retryStep('told')

    await expect(retried).rejects.toThrow('Step "uses" of run')
  },

  'while the run goes on, a step past which it continued is neither retried nor skipped': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([continued(claim)])
    const because = 'the run continued past its failure'

    await expect(given.operate(run).retryStep('a')).rejects.toThrow(because)
    await expect(given.operate(run).skipStep('a', { output: 1 })).rejects.toThrow(because)
  },

  'a failure that was told to a step which is kept cannot be skipped after the end': async (given) => {
    const { run } = await stoppedAfter(given)
    await given.undo(run, { steps: [] })

    await expect(given.operate(run).skipStep('told')).rejects.toThrow('the run continued past its failure')
  },

  'a run moves to a version that continues past its failures, and to no other': async (given) => {
    const onFailure = { a: { onFailure: 'continue' as const } }
    const old = await given.graph('moved', { a: [], b: ['a'] }, 1, {}, onFailure)
    const next = await given.graph('moved', { z: [], a: [], b: ['a'] }, 2, {}, onFailure)
    const stops = await given.graph('moved', { a: [], b: ['a'] }, 3)
    const later = await given.graph('moved', { z: [], a: ['z'], b: ['a'] }, 4, {}, onFailure)
    const run = await given.start(old)
    const worker = await given.worker()
    await worker.settle([continued(await worker.claimOf(run, 'a'))])
    await worker.settle([released(await worker.claimOf(run, 'b'), false)])

    const refused = given.operator().migrateRun(run.id, definitionOf(stops))
    await expect(refused).rejects.toThrow('past the failure of step "a", and version 3 would stop')
    const tooEarly = given.operator().migrateRun(run.id, definitionOf(later))
    await expect(tooEarly).rejects.toThrow(
      'step "a" has ended, but depends in version 4 on "z", which has not',
    )
    await given.operator().migrateRun(run.id, definitionOf(next))

    const { steps } = await run.read()
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['z', 'ready'],
      ['a', 'failed'],
      ['b', 'ready'],
    ])
  },
}

/** Two steps failed, one of them told to a step that completed; then the run stopped. */
async function stoppedAfter(given: Scenario) {
  const edges = { told: [], uses: ['told'], untold: [], stops: [], last: ['untold', 'stops'] }
  const run = await given.start(await given.graph('stopped', edges))
  const worker = await given.worker()
  const [told, untold, stops] = await worker.claimsOf(run, 'told', 'untold', 'stops')
  const { claims } = await worker.settle([continued(told!), continued(untold!)], 10)
  await worker.settle([completed(claims[0]!), failed(stops!)])
  return { run, worker }
}

/** The part of a definition that moving a run reads. */
function definitionOf({ saved }: Graph): WorkflowDefinition {
  const { name, version } = saved
  return { name, version, record: saved } as unknown as WorkflowDefinition
}

async function pairClaimed(given: Scenario) {
  const run = await given.pair()
  const worker = await given.worker()
  return { run, worker, claim: await worker.claimOf(run, 'a') }
}
