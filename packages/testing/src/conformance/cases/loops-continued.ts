import { type Claim, itemNumber, type Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  completed,
  continued,
  errorText,
  repeated,
  type Scenario,
} from '../scenario/index.ts'

/** before → l[] → l → after; the run continues past a failure of the loop. */
const LOOPED = { before: [], 'l[]': ['before'], l: ['l[]'], after: ['l'] }
const KINDS = { 'l[]': 'repeat', l: 'join' } as const
const CONTINUES = { 'l[]': { onFailure: 'continue' }, l: { onFailure: 'continue' } } as const
const [LOOP, JOIN, AFTER] = [1, 2, 3]

export const continuedLoopCases: Cases = {
  'the join of a loop begins when a round failed and continues, and the rounds before it are kept': async (
    given,
  ) => {
    const { run, worker, first } = await begunLoop(given)
    const [second] = (await worker.settle([repeated(first, '1')], 5)).claims

    const settled = await worker.settle([continued(second!, 'no more')], 5)

    expect(settled).toMatchObject({ results: ['settled'], claims: [{ step: JOIN, attempt: 1 }], runs: [] })
    expect(await run.statuses()).toMatchObject({ l: 'running', 'l[1]': 'completed', 'l[2]': 'failed' })
  },

  'a load tells the join which round failed, and with which error': async (given) => {
    const { run, worker, first } = await begunLoop(given)
    await worker.settle([continued(first, 'no more')], 5)

    const request = { runId: run.id, steps: [LOOP], branches: true, lastRoundsOf: [LOOP] }
    const [loaded] = await given.adapter.load([request])
    expect(loaded!.steps).toMatchObject([
      { step: LOOP, failed: false },
      { step: itemNumber(LOOP, 0), failed: true, error: errorText('no more') },
    ])
  },

  'what depends on a loop begins when its join failed and continues': async (given) => {
    const { run, worker, first } = await begunLoop(given)
    const [join] = (await worker.settle([continued(first)], 5)).claims

    const settled = await worker.settle([continued(join!)], 5)
    expect(settled.claims).toMatchObject([{ step: AFTER }])
    await worker.settle([completed(settled.claims[0]!)])
    expect(await run.status()).toBe('completed')
  },

  'a loop that fails to begin and continues has no rounds': async (given) => {
    const { run, worker, opener } = await loopClaimed(given)

    const settled = await worker.settle([continued(opener, 'no page')], 5)

    expect(settled.claims).toMatchObject([{ step: JOIN }])
    expect((await run.read()).steps).toHaveLength(4)
    const request = { runId: run.id, steps: [LOOP], branches: true, lastRoundsOf: [LOOP] }
    const [loaded] = await given.adapter.load([request])
    expect(loaded!.steps).toMatchObject([{ step: LOOP, failed: true, error: errorText('no page') }])
  },

  'a loop that fails to begin again skips the rounds of an earlier time': async (given) => {
    const { run, worker, claimed } = await undoneLoop(given)
    await worker.settle([continued(claimed, 'no page')], 5)

    expect(await run.statuses()).toMatchObject({ 'l[]': 'failed', 'l[1]': 'skipped', 'l[2]': 'skipped' })
    const { steps } = await run.read()
    const branch = JSON.parse(steps.at(-1)!.branch!)
    expect(branch).toEqual({ runs: false, because: 'outcome', dependency: 'l[]', outcome: 'failed' })
    expect(steps.at(-1)).toMatchObject({ openDependencies: 0 })
    expect(steps[JOIN]).toMatchObject({ status: 'running' })
  },

  'a retry of a run whose loop failed to begin lets it begin, with fences that are new': async (given) => {
    const { run, worker, claimed } = await undoneLoop(given)
    const [join] = (await worker.settle([continued(claimed)], 5)).claims
    const fences = (await run.read()).steps.slice(4).map(({ fence }) => fence)
    await given.cancel(run)
    await worker.settle([{ ...continued(join!) }])
    await given.drain()
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
    await given.operate(run).retry()

    const [again] = await worker.take()
    expect(again).toMatchObject({ step: LOOP })
    const [first] = (await worker.settle([begun(again!)], 5)).claims
    expect(first).toMatchObject({ step: itemNumber(LOOP, 0) })
    expect(first!.fence).toBeGreaterThan(Math.max(...fences))
    expect((await run.read()).steps).toHaveLength(5)
  },

  'a retry of a run keeps the failure of a loop of which a completed step was told, and repeats it otherwise':
    async (given) => {
      const { run, worker, first } = await begunLoop(given)
      const [join] = (await worker.settle([continued(first)], 5)).claims
      const [after] = (await worker.settle([continued(join!)], 5)).claims
      await given.cancel(run)
      await worker.settle([completed(after!)])
      await given.drain()
      await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
      await given.operate(run).retry()
      expect(await run.status()).toBe('completed')
      expect(await run.statuses()).toMatchObject({ l: 'failed', 'l[1]': 'failed' })
    },

  'a retry of a run whose loop failed, and of which nobody was told, goes on with the failed round': async (
    given,
  ) => {
    const { run, worker, first } = await begunLoop(given)
    const [second] = (await worker.settle([repeated(first, '1')], 5)).claims
    const [join] = (await worker.settle([continued(second!)], 5)).claims
    await given.cancel(run)
    await worker.settle([continued(join!)])
    await given.drain()
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
    await given.operate(run).retry()

    expect(await worker.take()).toMatchObject([{ step: itemNumber(LOOP, 1), round: 1 }])
    expect(await run.statuses()).toMatchObject({ 'l[]': 'completed', 'l[1]': 'completed', l: 'pending' })
  },
}

/** A run whose loop is about to begin. */
async function loopClaimed(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker; opener: Claim }> {
  const run = await given.start(await given.graph('looped-on', LOOPED, 1, KINDS, CONTINUES))
  const worker = await given.worker()
  await worker.complete(run, 'before')
  return { run, worker, opener: await worker.claimOf(run, 'l[]') }
}

/** A run whose loop is in its first round. */
async function begunLoop(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker; first: Claim }> {
  const { run, worker, opener } = await loopClaimed(given)
  const [first] = (await worker.settle([begun(opener)], 5)).claims
  return { run, worker, first: first! }
}

/** A run whose loop was undone after its first round, and is about to begin again. */
async function undoneLoop(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker; claimed: Claim }> {
  const { run, worker, first } = await begunLoop(given)
  const [second] = (await worker.settle([repeated(first, '1')], 5)).claims
  await given.cancel(run)
  await worker.settle([completed(second!)])
  await given.undo(run)
  for (let [undone] = await worker.take(1); undone !== undefined; [undone] = await worker.take(1)) {
    const { runId, step, fence, direction, definitionId } = undone
    const ref = { runId, step, fence, direction, definitionId }
    const isJoin = step === JOIN
    await worker.settle([
      isJoin
        ? ({ ...ref, type: 'relayed', undoOf: undone.undoOf!, joins: true } as Outcome)
        : { ...ref, type: 'compensated' },
    ])
  }
  await given.operate(run).retry()
  await worker.complete(run, 'before')
  return { run, worker, claimed: await worker.claimOf(run, 'l[]') }
}

/** The loop has begun: its first round is there. */
function begun(claim: Claim): Outcome {
  const { runId, step, fence, direction, definitionId } = claim
  const items = [{ key: '1', value: null }]
  return { runId, step, fence, direction, definitionId, type: 'expanded', items, atOnce: null }
}
