import {
  type Claim,
  type DrainedRun,
  edgesOf,
  itemNumber,
  type Outcome,
  placeRows,
  type UndoPlan,
} from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  compensated,
  completed,
  failed,
  relayed,
  repeated,
  retry,
  type Scenario,
  skipped,
} from '../scenario/index.ts'
import { withoutInput } from '../scenario/worker.ts'

/** before → l[] → l → after */
const LOOPED = { before: [], 'l[]': ['before'], l: ['l[]'], after: ['l'] }
const KINDS = { 'l[]': 'repeat', l: 'join' } as const
const [LOOP, JOIN] = [1, 2]

export const loopCases: Cases = {
  'a round that repeats adds the next one as a ready row, with its number and the output before it': async (
    given,
  ) => {
    const { run, worker, first } = await looped(given)
    const settlement = await worker.settle([repeated(first, '{"page":1}')])

    expect(settlement).toMatchObject({ results: ['settled'], claims: [], queued: true })
    const { steps } = await run.read()
    expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'before completed',
      'l[] completed',
      'l pending',
      'after pending',
      'l[1] completed',
      'l[2] ready',
    ])
    expect(steps[JOIN]).toMatchObject({ openDependencies: 1 })
    expect(steps.at(-1)).toMatchObject({ fence: 1, round: 1, attempts: 0, itemKey: '2' })
    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [round(1), round(2)] }])
    expect(loaded!.steps).toMatchObject([
      { output: '{"page":1}', item: { key: '1', value: null } },
      { output: null, item: { key: '2', value: '{"page":1}' } },
    ])
  },

  'a worker with room is leased the next round, and the join when a round completes without another': async (
    given,
  ) => {
    const { run, worker, first } = await looped(given)
    const { claims, queued } = await worker.settle([repeated(first, '1')], 5)
    expect(claims.map(withoutInput)).toMatchObject([
      { step: round(2), fence: 2, round: 1, attempt: 1, failures: 0 },
    ])
    expect(queued).toBe(false)
    expect((await worker.held()).map(({ step }) => step)).toEqual([round(2)])
    const last = await worker.settle([completed(claims[0]!, '"last"')], 5)
    expect(last.claims).toMatchObject([{ step: JOIN, attempt: 1 }])
    await worker.settle([completed(last.claims[0]!, '"last"')])
    await worker.complete(run, 'after')
    expect(await run.status()).toBe('completed')
  },

  'a load reads the last round of a loop': async (given) => {
    const { run, worker, first } = await looped(given)
    const request = { runId: run.id, steps: [LOOP], lastRoundsOf: [LOOP] }
    const lastOf = async () => (await given.adapter.load([request]))[0]!.steps.map(({ step }) => step)
    expect(await lastOf()).toEqual([LOOP, round(1)])
    await worker.settle([repeated(first, '1')])
    expect(await lastOf()).toEqual([LOOP, round(2)])
    expect(await given.adapter.load([{ ...request, lastRoundsOf: [] }])).toMatchObject([
      { steps: [{ step: LOOP }] },
    ])
  },

  'a round with a delay is claimable after it, by the clock of the store': async (given) => {
    const { run, worker, first } = await looped(given)
    const settlement = await worker.settle([repeated(first, '1', 1_000)], 5)
    expect(settlement).toMatchObject({ claims: [], queued: false })
    expect(await worker.take()).toEqual([])
    const { steps } = await run.read()
    expect(steps.at(-1)).toMatchObject({ status: 'ready', failures: 0 })
    expect(steps.at(-1)!.availableAt).not.toBeNull()
    await given.advance(1_000)
    expect(await worker.take()).toMatchObject([{ step: round(2), attempt: 1 }])
  },

  'the fence of a round begins at that of the round before': async (given) => {
    const { worker, first } = await looped(given)
    await worker.settle([retry(first, 0)])
    const [again] = await worker.take()
    expect(again).toMatchObject({ fence: 2, attempt: 2 })
    const { claims } = await worker.settle([repeated(again!, '1')], 5)
    expect(claims).toMatchObject([{ step: round(2), fence: 3, attempt: 1 }])
  },

  'a settlement of a round whose answer was lost is recognised, and adds nothing again': async (given) => {
    const { worker, first } = await looped(given)
    const outcome = repeated(first, '1')
    await worker.settle([outcome], 5)
    const before = await given.snapshot()
    expect(await worker.settle([outcome], 5)).toMatchObject({ results: ['settled'], claims: [] })
    expect(await given.snapshot()).toEqual(before)
    expect(await given.adapter.recorded({ workerId: worker.id, outcomes: [outcome] })).toEqual([true])
  },

  'a worker that no longer holds the round adds nothing': async (given) => {
    const { run, worker, first } = await looped(given)
    await given.expireLeases()
    await given.sweep()
    expect(await worker.settle([repeated(first, '1')])).toMatchObject({ results: ['lost'] })
    expect((await run.read()).steps).toHaveLength(5)
  },

  'a round that repeats after its run was stopped adds the next one as cancelled': async (given) => {
    const { run, worker, first } = await looped(given)
    await given.cancel(run)
    expect(await worker.settle([repeated(first, '1')], 5)).toMatchObject({ results: ['settled'], claims: [] })
    const { steps } = await run.read()
    expect(steps.slice(-2)).toMatchObject([
      { name: 'l[1]', status: 'completed', output: '1' },
      { name: 'l[2]', status: 'cancelled', openDependencies: 0, startedAt: null },
    ])
    expect(await worker.take()).toEqual([])
    await given.drain()
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
    await given.operate(run).retry()
    expect(await worker.take()).toMatchObject([{ step: round(2), attempt: 1 }])
  },

  'no round begins in a paused run, also one with a delay': async (given) => {
    const { run, worker, first } = await looped(given)
    await given.operate(run).pause()
    await worker.settle([repeated(first, '1', 1_000)], 5)
    expect((await run.read()).steps.at(-1)).toMatchObject({ status: 'ready', openDependencies: 0 })
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect(await worker.take()).toEqual([])
    await given.advance(1_000)
    const [second] = await worker.take()
    await given.operate(run).pause()
    await worker.settle([completed(second!)], 5)
    await given.operate(run).resume()
    expect(await worker.take()).toMatchObject([{ step: JOIN }])
  },

  'a round that fails stops the run': async (given) => {
    const { run, worker, first } = await looped(given)
    const { claims } = await worker.settle([repeated(first, '1')], 5)
    await worker.settle([failed(claims[0]!)])
    expect(await run.status()).toBe('compensating')
    expect(await run.statuses()).toMatchObject({ l: 'cancelled', 'l[1]': 'completed', 'l[2]': 'failed' })
  },

  'a loop that is skipped has no rounds': async (given) => {
    const run = await given.start(await given.graph('looped', LOOPED, 1, KINDS))
    const worker = await given.worker()
    await worker.complete(run, 'before')
    await worker.settle([skipped(await worker.claimOf(run, 'l[]'))])
    expect(await worker.take()).toMatchObject([{ step: JOIN }])
    expect((await run.read()).steps).toHaveLength(4)
  },

  'the undo goes from the join to the last round, and from each round to the one before it': async (
    given,
  ) => {
    const { run, worker, first } = await looped(given)
    const [second] = (await worker.settle([repeated(first, '1')], 5)).claims
    const [third] = (await worker.settle([repeated(second!, '2')], 5)).claims
    const [join] = (await worker.settle([completed(third!, '3')], 5)).claims
    await worker.settle([completed(join!, '3')])
    await worker.fail(run, 'after')
    const [drained] = await given.drain()
    await given.adapter.beginUndo([planAll(run, drained!)])

    const [undone] = await worker.take()
    expect(undone).toMatchObject({ step: JOIN, direction: 'undo' })
    let next = await worker.settle([{ ...relayed(undone!), joins: true } as Outcome], 5)
    for (const number of [3, 2, 1]) {
      expect(next.claims).toMatchObject([{ step: round(number), direction: 'undo' }])
      next = await worker.settle([compensated(next.claims[0]!)], 5)
    }
    expect(next.claims).toMatchObject([{ step: LOOP, direction: 'undo' }])
    await worker.settle([relayed(next.claims[0]!)])
    await worker.compensate(run, 'before')
    expect(await run.status()).toBe('compensated')
  },

  'a loop of which a round was undone begins anew, and no fence and no idempotency key repeats': async (
    given,
  ) => {
    const { run, worker, first } = await looped(given)
    const [second] = (await worker.settle([repeated(first, '1')], 5)).claims
    await worker.settle([failed(second!)])
    const [drained] = await given.drain()
    await given.adapter.beginUndo([planAll(run, drained!)])
    let [undone] = await worker.take()
    expect(undone).toMatchObject({ step: round(1) })
    await worker.settle([compensated(undone!)])
    for (undone of await worker.take()) await worker.settle([relayed(undone)])
    await worker.compensate(run, 'before')
    const before = (await run.read()).steps
    await given.operate(run).retry()

    await worker.complete(run, 'before')
    const [loop] = await worker.take()
    expect(loop).toMatchObject({ step: LOOP, round: 2 })
    const [anew] = (await worker.settle([begun(loop!)], 5)).claims
    expect(anew).toMatchObject({ step: round(1), round: 2, attempt: 1 })
    expect((await run.read()).steps).toHaveLength(5)
    const [next] = (await worker.settle([repeated(anew!, '1')], 5)).claims
    expect(next).toMatchObject({ step: round(2), round: 2, attempt: 1 })
    expect(next!.fence).toBeGreaterThan(Math.max(...before.slice(4).map(({ fence }) => fence)))
  },

  'a loop that begins again while its run is stopping leaves the rounds of before, and begins once more':
    async (given) => {
      const { run, worker, first } = await looped(given)
      const [second] = (await worker.settle([repeated(first, '1')], 5)).claims
      await worker.settle([failed(second!)])
      const [drained] = await given.drain()
      await given.adapter.beginUndo([planAll(run, drained!)])
      for (let [undone] = await worker.take(1); undone !== undefined; [undone] = await worker.take(1))
        await worker.settle([compensated(undone)])
      await given.operate(run).retry()
      await worker.complete(run, 'before')
      const [loop] = await worker.take()
      await given.cancel(run)
      await worker.settle([begun(loop!)])
      expect(await run.statuses()).toMatchObject({
        'l[]': 'completed',
        'l[1]': 'cancelled',
        'l[2]': 'cancelled',
      })
      await given.drain()
      await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])
      await given.operate(run).retry()

      const [again] = await worker.take()
      expect(again).toMatchObject({ step: LOOP })
      const [anew] = (await worker.settle([begun(again!)], 5)).claims
      await worker.settle([repeated(anew!, '1')], 5)
      expect((await run.read()).steps.slice(4)).toMatchObject([
        { status: 'completed' },
        { status: 'running' },
      ])
    },
}

/** The row of a round, counted from 1. */
export function round(number: number): number {
  return itemNumber(LOOP, number - 1)
}

/** A run whose loop is in its first round. */
export async function looped(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker; first: Claim }> {
  const run = await given.start(await given.graph('looped', LOOPED, 1, KINDS))
  const worker = await given.worker()
  await worker.complete(run, 'before')
  await worker.settle([begun(await worker.claimOf(run, 'l[]'))])
  const [first] = await worker.take()
  return { run, worker, first: first! }
}

/** The loop has begun: its first round is there. */
function begun(claim: Claim): Outcome {
  const { runId, step, fence, direction, definitionId } = claim
  const items = [{ key: '1', value: null }]
  return { runId, step, fence, direction, definitionId, type: 'expanded', items, atOnce: null }
}

/** Undoes every row that completed, each after what depends on it. */
export function planAll(run: CaseRun, drained: DrainedRun): UndoPlan {
  const { shape, numbers } = placeRows(run.graph.saved.shape, drained.steps)!
  const { dependents } = edgesOf(shape)
  const statuses = new Map(drained.steps.map(({ step, status }) => [step, status]))
  const isUndone = (place: number) => statuses.get(numbers[place]!) === 'completed'
  const undos = numbers.flatMap((step, place) =>
    isUndone(place) ? [{ step, openDependents: dependents[place]!.filter(isUndone).length }] : [],
  )
  return { runId: drained.runId, endsAs: 'compensated', undos }
}
