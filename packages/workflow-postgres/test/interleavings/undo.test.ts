import type { BegunUndo, Claim, UndoPlan } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

type Begun = readonly BegunUndo[]

/** A run that failed in its last step, and the plan of its undo. */
async function givenDrained(world: World, edges: Readonly<Record<string, readonly string[]>>) {
  const definition = await world.definition(`drained ${Object.keys(edges)}`, edges)
  const runId = await world.start(definition)
  const last = Object.keys(edges).length - 1
  for (;;) {
    const claims = await world.claim(definition)
    const end = claims.find(({ step }) => step === last)
    await world.settle(claims.map((claim) => (claim === end ? failed(claim) : completed(claim))))
    if (end !== undefined) break
  }
  return { definition, runId, plan: world.planUndo(await world.drained(runId)) }
}

/** What a worker does for stopped runs: it looks, plans, and begins. */
async function drainAndBegin(
  world: World,
  { adapter, workerId }: Session,
  definitionId: number,
): Promise<Begun> {
  const drained = await adapter.drain({ definitionIds: [definitionId], limit: 10 })
  const plans = drained.map((run) => world.planUndo(run))
  return adapter.beginUndo(plans, { workerId, handBackMax: 10 })
}

const beginAndBegin: Pair = {
  name: 'begin-undo/begin-undo',
  async given(world): Promise<Meeting<Begun, Begun>> {
    const edges = { a: [], b: [], c: ['a', 'b'], d: ['c'] }
    const { definition, runId } = await givenDrained(world, edges)
    const { one, two } = world.sessions
    return {
      one: () => drainAndBegin(world, one, definition.id),
      two: () => drainAndBegin(world, two, definition.id),
      async check(first, second) {
        expect([first.status, second.status]).toEqual(['fulfilled', 'fulfilled'])
        const begun = [first, second].flatMap((told) => (told as PromiseFulfilledResult<Begun>).value)
        expect(begun, 'begun once').toMatchObject([{ runId, status: 'compensating' }])
        expect(begun.flatMap(({ claims = [] }) => claims)).toMatchObject([{ step: 2, direction: 'undo' }])
        const { steps } = await world.read(runId)
        expect(steps.map(({ status }) => status)).toEqual([
          'compensating',
          'compensating',
          'compensating',
          'failed',
        ])
        expect(steps.map(({ fence }) => fence)).toEqual([1, 1, 2, 1])
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect(run.status).toBe('compensated')
        expect(
          steps.map(({ fence }) => fence),
          'each is undone once',
        ).toEqual([2, 2, 2, 1])
      },
    }
  },
}

const begin = ({ adapter, workerId }: Session, plan: UndoPlan): Promise<Begun> =>
  adapter.beginUndo([plan], { workerId, handBackMax: 10 })

// Nothing is to be undone. So the run ends as failed at once, and an operator may send it forward.
const beginAndSkip: Pair = {
  name: 'begin-undo/skip',
  async given(world): Promise<Meeting<Begun, unknown>> {
    const { runId, plan } = await givenDrained(world, { a: [] })
    const { one, two } = world.sessions
    return {
      one: () => begin(one, plan),
      two: () => world.operate(runId, two).skipStep('a'),
      async check(begun, skipped) {
        expect(begun).toMatchObject({ status: 'fulfilled', value: [{ runId, status: 'failed' }] })
        if (skipped.status === 'rejected') expect(skipped.reason).toMatchObject({ code: 'action_refused' })
        const { run } = await world.read(runId)
        expect(run.status).toBe(skipped.status === 'fulfilled' ? 'completed' : 'failed')
      },
    }
  },
}

// Another worker's plan of the same undo is late: the run has ended and was sent forward again.
const lateBeginAndSkip: Pair = {
  name: 'begin-undo/skip late',
  async given(world): Promise<Meeting<Begun, unknown>> {
    const { runId, plan } = await givenDrained(world, { a: [], b: [], c: ['a'], d: ['b'], e: ['c', 'd'] })
    const { one, two } = world.sessions
    await world.store.beginUndo([{ ...plan, endsAs: 'failed', undos: [] }])
    return {
      one: () => begin(one, plan),
      two: () => world.operate(runId, two).skipStep('e'),
      async check(begun, skipped) {
        expect(begun, 'a late plan begins nothing').toEqual({ status: 'fulfilled', value: [] })
        expect(skipped.status).toBe('fulfilled')
        expect((await world.read(runId)).run.status).toBe('completed')
      },
    }
  },
}

// The same, but the run has failed once more before the late plan arrives.
const lateBeginAndRetry: Pair = {
  name: 'begin-undo/retry late',
  async given(world): Promise<Meeting<Begun, unknown>> {
    const { definition, runId, plan } = await givenDrained(world, { a: [], b: ['a'] })
    const { one, two } = world.sessions
    const { workerId } = two
    await world.store.beginUndo([{ ...plan, endsAs: 'failed', undos: [] }])
    return {
      one: () => begin(one, plan),
      async two() {
        await world.operate(runId, two).retry()
        const claimed = await two.adapter.claim({ workerId, definitionIds: [definition.id], limit: 10 })
        const { claims } = claimed as { readonly claims: readonly Claim[] }
        return two.adapter.settle({ workerId, outcomes: claims.map(failed), handBackMax: 0 })
      },
      async check(begun, retried) {
        expect(begun, 'a late plan begins nothing').toEqual({ status: 'fulfilled', value: [] })
        expect(retried).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        expect((await world.read(runId)).run.status).toBe('compensating')
      },
      async finally() {
        expect((await world.read(runId)).run.status).toBe('compensated')
      },
    }
  },
}

// A compensation failed for good, and an operator declares it done while the last other undo ends.
const settleUndoAndSkip: Pair = {
  name: 'settle-undo/skip',
  async given(world): Promise<Meeting<unknown, unknown>> {
    const { runId, plan } = await givenDrained(world, { a: [], b: [], c: ['a', 'b'] })
    const { one, two } = world.sessions
    const [{ claims = [] } = expect.fail('Nothing was begun.')] = await begin(one, plan)
    const { workerId } = one
    const error = '{"name":"Error","message":"no"}'
    await world.settle([{ ...claims[0]!, type: 'compensation_failed', error }], workerId)
    const outcomes = claims.slice(1).map((claim) => ({ ...claim, type: 'compensated' as const }))
    return {
      one: () => one.adapter.settle({ workerId, outcomes, handBackMax: 10 }),
      two: () => world.operate(runId, two).skipCompensation('a'),
      async check(settled, skipped) {
        expect(settled).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        expect(skipped.status).toBe('fulfilled')
        expect((await world.read(runId)).run.status).toBe('compensated')
      },
    }
  },
}

describe.each(servers)('undos in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('an undo begins once, and is leased once', beginAndBegin, () => world)
  itHolds('a run ends before it is sent forward, or is not sent forward', beginAndSkip, () => world)
  itHolds('a late plan undoes nothing in a run that was sent forward', lateBeginAndSkip, () => world)
  itHolds('a late plan undoes nothing in a run that has failed again', lateBeginAndRetry, () => world)
  itHolds('the run ends once every undo is done or declared done', settleUndoAndSkip, () => world)
})
