import type { WorkflowDefinition } from '@belay/workflow'
import { RUNS, skipText } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  compensated,
  completed,
  decided,
  failed,
  type Graph,
  released,
  retry,
  type Scenario,
  skipped,
} from '../scenario/index.ts'

const WHEN_FALSE = skipText({ because: 'when' })

export const branchCases: Cases = {
  'a skipped step has no output, keeps its reason, and its dependents continue': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)

    const settled = await worker.settle([skipped(claim)], 10)

    expect(settled.results).toEqual(['settled'])
    expect(settled.claims).toMatchObject([{ step: 1, fence: 1, attempt: 1 }])
    expect(await run.step('a')).toMatchObject({ status: 'skipped', output: null, branch: WHEN_FALSE })
    expect((await run.step('a')).finishedAt).not.toBeNull()
  },

  'a dependent of a skipped and of a completed step becomes ready once both have ended': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(run, 'a'))])
    const [b, c] = await worker.claimsOf(run, 'b', 'c')

    const settled = await worker.settle([skipped(b!), completed(c!)], 10)

    expect(settled.claims).toMatchObject([{ step: 3 }])
    expect(await run.statuses()).toEqual({
      ...{ a: 'completed', b: 'skipped', c: 'completed', d: 'running' },
    })
  },

  'a run whose last step is skipped is completed': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    const { claims } = await worker.settle([completed(claim)], 10)

    const settled = await worker.settle([skipped(claims[0]!)])

    expect(settled.runs).toMatchObject([{ runId: run.id, status: 'completed' }])
    expect(await run.status()).toBe('completed')
  },

  'a skip that is settled again, after a lost answer, changes nothing': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([skipped(claim)])
    const before = await run.read()

    expect((await worker.settle([skipped(claim)])).results).toEqual(['settled'])
    expect(await run.read()).toEqual(before)
  },

  'a skip in a stopped run makes no dependent ready': async (given) => {
    const run = await given.start(await given.graph('branches', { a: [], b: ['a'], c: [] }))
    const worker = await given.worker()
    const [a, c] = await worker.claimsOf(run, 'a', 'c')
    await worker.settle([failed(c!)])

    expect((await worker.settle([skipped(a!)], 10)).claims).toEqual([])
    expect(await run.statuses()).toEqual({ a: 'skipped', b: 'cancelled', c: 'failed' })
  },

  'a decision leaves its attempt where it is: same worker, same fence, and the attempt settles again': async (
    given,
  ) => {
    const { run, worker, claim } = await pairClaimed(given)
    const before = await run.step('a')

    expect((await worker.settle([decided(claim)])).results).toEqual(['settled'])

    expect(await run.step('a')).toEqual({ ...before, branch: RUNS })
    expect(await worker.held()).toMatchObject([{ step: 0, fence: claim.fence }])
    expect((await worker.settle([completed(claim)])).results).toEqual(['settled'])
    expect(await run.step('a')).toMatchObject({ status: 'completed', branch: RUNS })
  },

  'a decision that is settled again, after a lost answer, is recorded again': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([decided(claim)])

    expect((await worker.settle([decided(claim)])).results).toEqual(['settled'])
    expect(await run.step('a')).toMatchObject({ status: 'running', branch: RUNS })
  },

  'a decision that is there twice in one settlement is recorded, and both are answered so': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)

    expect((await worker.settle([decided(claim), decided(claim)])).results).toEqual(['settled', 'settled'])
    expect(await run.step('a')).toMatchObject({ status: 'running', branch: RUNS })
  },

  'a late decision of an attempt that lost its step changes nothing': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await loseWorkers(given)
    const other = await given.worker()
    const taken = await other.claimOf(run, 'a')
    const before = await run.read()

    expect((await worker.settle([decided(claim), skipped(claim)])).results).toEqual(['lost', 'lost'])

    expect(await run.read()).toEqual(before)
    expect((await other.settle([completed(taken)])).results).toEqual(['settled'])
  },

  'a decision survives a retry, a release and the loss of its worker': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([decided(claim)])

    await worker.settle([retry(claim, 0)])
    expect(await run.step('a')).toMatchObject({ status: 'ready', branch: RUNS })
    await worker.settle([released(await worker.claimOf(run, 'a'), false)])
    expect(await run.step('a')).toMatchObject({ status: 'ready', branch: RUNS })
    await worker.claimOf(run, 'a')
    await loseWorkers(given)

    expect(await run.step('a')).toMatchObject({ status: 'ready', losses: 1, branch: RUNS })
  },

  'a retried run keeps the branches of steps that stay, and forgets those of steps that build on an undone one':
    async (given) => {
      const run = await given.start(await given.graph('branches', { a: [], b: ['a'], c: [], d: ['b', 'c'] }))
      const worker = await given.worker()
      const [a, c] = await worker.claimsOf(run, 'a', 'c')
      await worker.settle([skipped(c!), completed(a!)])
      await worker.settle([skipped(await worker.claimOf(run, 'b'))])
      const d = await worker.claimOf(run, 'd')
      await worker.settle([decided(d)])
      await worker.settle([failed(d)])
      await given.undo(run, { steps: ['a'] })
      await worker.settle([compensated(await worker.claimOf(run, 'a'))])

      await given.operate(run).retry()

      const { steps } = await run.read()
      expect(steps.map(({ name, status, branch }) => [name, status, branch])).toEqual([
        ['a', 'ready', null],
        ['b', 'pending', null],
        ['c', 'skipped', WHEN_FALSE],
        ['d', 'pending', null],
      ])
    },

  'a step that is retried in its place keeps its decision': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([decided(claim)])
    await worker.settle([failed(claim)])
    await given.undo(run)

    await given.operate(run).retry()

    expect(await run.step('a')).toMatchObject({ status: 'ready', branch: RUNS })
  },

  'a run that moves to another version takes its branches along': async (given) => {
    const old = await given.graph('moved', { a: [], b: [] }, 1, {}, { a: { when: 'function' } })
    const next = await given.graph('moved', { z: [], a: [], b: [] }, 2, {}, { a: { when: 'function' } })
    const run = await given.start(old)
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(run, 'a', 'b')
    await worker.settle([skipped(a!), released(b!, false)])

    await given.operator().migrateRun(run.id, definitionOf(next))

    const { steps } = await run.read()
    expect(steps.map((step) => [step.name, step.status, step.branch])).toEqual([
      ['z', 'ready', null],
      ['a', 'skipped', WHEN_FALSE],
      ['b', 'ready', null],
    ])
  },

  'a run does not move to a version that always runs a step which was skipped': async (given) => {
    const old = await given.graph('moved', { a: [], b: [] }, 1, {}, { a: { when: 'function' } })
    const next = await given.graph('moved', { z: [], a: [], b: [] }, 2)
    const run = await given.start(old)
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(run, 'a', 'b')
    await worker.settle([skipped(a!), released(b!, false)])

    const moved = given.operator().migrateRun(run.id, definitionOf(next))

    await expect(moved).rejects.toThrow('step "a" was skipped by its condition, and version 2 always runs it')
  },

  'branches are read with payloads only if they are asked for': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    await worker.settle([skipped(claim)])
    const request = { runId: run.id, steps: [0, 1] }

    const [plain] = await given.adapter.load([request])
    const [asked] = await given.adapter.load([{ ...request, branches: true }])

    expect(plain!.steps.map((step) => 'branch' in step)).toEqual([false, false])
    expect(asked!.steps.map(({ branch }) => branch)).toEqual([WHEN_FALSE, null])
  },

  'a drained run tells which of its steps were decided': async (given) => {
    const run = await given.start(await given.graph('branches', { a: [], b: [], c: [] }))
    const worker = await given.worker()
    const [a, b, c] = await worker.claimsOf(run, 'a', 'b', 'c')
    await worker.settle([decided(a!)])
    await worker.settle([retry(a!, 0), skipped(b!), failed(c!)])

    const [drained] = await given.drain()

    expect(drained!.steps.map(({ status, decided: is }) => [status, is])).toEqual([
      ['cancelled', true],
      ['skipped', true],
      ['failed', undefined],
    ])
  },

  'a skip is kept as an attempt, and a decision is not': async (given) => {
    const { run, worker, claim } = await pairClaimed(given)
    const keep = { workerId: worker.id, handBackMax: 0, keepAttempts: true }
    await given.adapter.settle({ ...keep, outcomes: [decided(claim)] })
    expect(await given.adapter.readAttempts({ runId: run.id, limit: 10 })).toEqual([])

    await given.adapter.settle({ ...keep, outcomes: [skipped(claim)] })

    expect(await given.adapter.readAttempts({ runId: run.id, limit: 10 })).toMatchObject([
      { step: 0, ended: 'skipped', attempt: 1 },
    ])
  },
}

/** The part of a definition that moving a run reads. */
function definitionOf({ saved }: Graph): WorkflowDefinition {
  const { name, version } = saved
  return { name, version, record: saved } as unknown as WorkflowDefinition
}

async function loseWorkers(given: Scenario): Promise<void> {
  await given.expireLeases()
  await given.sweep()
}

async function pairClaimed(given: Scenario) {
  const run = await given.pair()
  const worker = await given.worker()
  return { run, worker, claim: await worker.claimOf(run, 'a') }
}
