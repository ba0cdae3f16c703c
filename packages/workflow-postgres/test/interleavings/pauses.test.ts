import type { BegunUndo, Claim, Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

// What a pause and a resumption may meet while a run is undone:
//
// | beside                      | pause                                                  | resume                                                |
// |-----------------------------|--------------------------------------------------------|-------------------------------------------------------|
// | a failure                   | after or before it: the run is paused and stopped      | after it: the undo begins; before it: then stopped    |
// | a deadline                  | the same                                               | the same                                              |
// | begin-undo                  | before it: nothing begins; after it: only leased steps | no plan begins anything until this has committed      |
// | an undo's end               | its dependents are held, or were leased before         | its dependents are queued, or leased                  |
// | an undo that fails for good | parked at the resumption                               | parked by one of the two                              |
// | a sweep                     | returned steps are held, or queued at the resumption   | queued once, by one of the two                        |
// | a claim                     | comes before, or finds the open dependency             | this claim or the next one finds the hint             |
// | a cancellation              | after it: paused and stopped; before it: not paused    | both end the pause                                    |

const EDGES = { a: [], b: [], c: ['a', 'b'], d: ['c'] }

/** d failed: c is undone first, then a and b. */
async function givenStopped(world: World) {
  const definition = await world.definition('stopped', EDGES)
  const runId = await world.start(definition)
  for (let failedLast = false; !failedLast; ) {
    const claims = await world.claim(definition)
    failedLast = claims.some(({ step }) => step === 3)
    await world.settle(claims.map((claim) => (claim.step === 3 ? failed(claim) : completed(claim))))
  }
  return { definition, runId, plan: world.planUndo(await world.drained(runId)) }
}

/** c is undone, and a and b are leased to the session. */
async function givenUndoing(world: World, { adapter, workerId }: Session) {
  const { definition, runId, plan } = await givenStopped(world)
  const [{ claims: [c] = [] } = expect.fail('Nothing was begun.')] = await adapter.beginUndo([plan], {
    workerId,
    handBackMax: 10,
  })
  const settlement = await adapter.settle({
    workerId,
    outcomes: [{ ...c!, type: 'compensated' }],
    handBackMax: 10,
  })
  const [a, b] = settlement.claims
  return { definition, runId, a: a!, b: b! }
}

async function begunOf(world: World, runId: string): Promise<readonly number[]> {
  return (await world.read(runId)).steps.map(({ fence }) => fence)
}

/** Pauses a run, and at once reads what has begun in it. */
async function pause(world: World, session: Session, runId: string): Promise<readonly number[]> {
  await world.operate(runId, session).pause()
  return begunOf(world, runId)
}

function answerOf<Value>(told: PromiseSettledResult<Value>): Value {
  return told.status === 'fulfilled' ? told.value : expect.fail(String(told.reason))
}

/** What every pair on a paused undo ends with. */
async function expectUndone(world: World, runId: string): Promise<void> {
  const { run, steps } = await world.read(runId)
  expect(run.status).toBe('compensated')
  expect(steps.map(({ status }) => status)).toEqual(['compensated', 'compensated', 'compensated', 'failed'])
}

const beginAndPause: Pair = {
  name: 'begin-undo/pause',
  async given(world): Promise<Meeting<readonly BegunUndo[], readonly number[]>> {
    const { runId, plan } = await givenStopped(world)
    const { one, two } = world.sessions
    return {
      one: () => one.adapter.beginUndo([plan], { workerId: one.workerId, handBackMax: 10 }),
      two: () => pause(world, two, runId),
      async check(begun, paused) {
        expect(begun.status).toBe('fulfilled')
        expect(await begunOf(world, runId), 'begun when the pause returned, and now').toEqual(
          answerOf(paused),
        )
        expect((await world.read(runId)).run.status).toBe('paused')
      },
      finally: () => expectUndone(world, runId),
    }
  },
}

const beginAndResume: Pair = {
  name: 'begin-undo/resume',
  async given(world): Promise<Meeting<readonly BegunUndo[], boolean>> {
    const { runId, plan } = await givenStopped(world)
    const { one, two } = world.sessions
    await world.operate(runId, two).pause()
    return {
      one: () => one.adapter.beginUndo([plan], { workerId: one.workerId, handBackMax: 10 }),
      two: () => world.operate(runId, two).resume(),
      async check(begun, resumed) {
        expect(answerOf(resumed)).toBe(true)
        expect((await world.read(runId)).run.status).toBe('compensating')
        const undoing = (await world.read(runId)).steps.some(({ undoOf }) => undoOf !== null)
        expect(undoing).toBe(answerOf(begun).length > 0)
      },
      finally: () => expectUndone(world, runId),
    }
  },
}

type End = (claim: Claim) => Parameters<Session['adapter']['settle']>[0]['outcomes'][number]

const compensated: End = (claim) => ({ ...claim, type: 'compensated' })
const again: End = (claim) => ({
  ...claim,
  type: 'retry',
  error: '{"name":"Error","message":"no"}',
  delayMs: 0,
})
const parked: End = (claim) => ({
  ...claim,
  type: 'compensation_failed',
  error: '{"name":"Error","message":"no"}',
})

/** c ends, which makes a and b due, or c is retried. */
const settleUndoAndPause = (name: string, end: End): Pair => ({
  name: `${name}/pause`,
  async given(world): Promise<Meeting<Settlement, readonly number[]>> {
    const { runId, plan } = await givenStopped(world)
    const { one, two } = world.sessions
    const { workerId } = one
    const [begun] = await one.adapter.beginUndo([plan], { workerId, handBackMax: 10 })
    const outcomes = begun!.claims!.map(end)
    return {
      one: () => one.adapter.settle({ workerId, outcomes, handBackMax: 1 }),
      two: () => pause(world, two, runId),
      async check(settled, paused) {
        expect(answerOf(settled).results).toEqual(['settled'])
        expect(await begunOf(world, runId), 'begun when the pause returned, and now').toEqual(
          answerOf(paused),
        )
        expect((await world.read(runId)).run.status).toBe('paused')
      },
      finally: () => expectUndone(world, runId),
    }
  },
})

/** a and b were in flight when the run was paused; a ends, fails for good, or is retried. */
const settleUndoAndResume = (name: string, end: End, status: string): Pair => ({
  name: `${name}/resume`,
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const { one, two } = world.sessions
    const { runId, a } = await givenUndoing(world, one)
    await world.operate(runId, two).pause()
    const { workerId } = one
    return {
      one: () => one.adapter.settle({ workerId, outcomes: [end(a)], handBackMax: 10 }),
      two: () => world.operate(runId, two).resume(),
      async check(settled, resumed) {
        expect(answerOf(settled).results).toEqual(['settled'])
        expect(answerOf(resumed)).toBe(true)
        expect((await world.read(runId)).run.status).toBe(status)
        if (status === 'compensation_failed') await world.operate(runId, two).retryCompensation('a')
      },
      finally: () => expectUndone(world, runId),
    }
  },
})

const lastUndoAndPause: Pair = {
  name: 'settle-last-undo/pause',
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const { one, two } = world.sessions
    const { runId, a, b } = await givenUndoing(world, one)
    const { workerId } = one
    const outcomes = [compensated(a), compensated(b)]
    return {
      one: () => one.adapter.settle({ workerId, outcomes, handBackMax: 10 }),
      two: () => world.operate(runId, two).pause(),
      async check(settled, paused) {
        expect(answerOf(settled).runs).toMatchObject([{ runId, status: 'compensated' }])
        if (paused.status === 'rejected') expect(paused.reason).toMatchObject({ code: 'action_refused' })
        await expectUndone(world, runId)
      },
    }
  },
}

const claimUndoAndPause: Pair = {
  name: 'claim-undo/pause',
  async given(world): Promise<Meeting<unknown, readonly number[]>> {
    const { definition, runId, plan } = await givenStopped(world)
    const { one, two } = world.sessions
    await world.store.beginUndo([plan])
    return {
      one: () => one.adapter.claim({ workerId: one.workerId, definitionIds: [definition.id], limit: 10 }),
      two: () => pause(world, two, runId),
      async check(claimed, paused) {
        expect(claimed.status).toBe('fulfilled')
        expect(await begunOf(world, runId), 'begun when the pause returned, and now').toEqual(
          answerOf(paused),
        )
      },
      finally: () => expectUndone(world, runId),
    }
  },
}

/** Two undos are lost with their worker, while their run is paused or resumed. */
const sweepAnd = (name: 'pause' | 'resume'): Pair => ({
  name: `sweep-undo/${name}`,
  async given(world): Promise<Meeting<unknown, boolean>> {
    const { one, two } = world.sessions
    const { runId } = await givenUndoing(world, one)
    if (name === 'resume') await world.operate(runId, two).pause()
    await world.expire(one)
    return {
      one: () => one.adapter.sweep({ limit: 10 }),
      two: () => world.operate(runId, two)[name](),
      async check(swept, told) {
        expect(swept.status).toBe('fulfilled')
        expect(answerOf(told)).toBe(true)
        expect((await world.read(runId)).run.status).toBe(name === 'pause' ? 'paused' : 'compensating')
      },
      finally: () => expectUndone(world, runId),
    }
  },
})

const claimUndoAndResume: Pair = {
  name: 'claim-undo/resume',
  async given(world): Promise<Meeting<unknown, boolean>> {
    const { definition, runId, plan } = await givenStopped(world)
    const { one, two } = world.sessions
    await world.store.beginUndo([plan])
    await world.operate(runId, two).pause()
    return {
      one: () => one.adapter.claim({ workerId: one.workerId, definitionIds: [definition.id], limit: 10 }),
      two: () => world.operate(runId, two).resume(),
      async check(claimed, resumed) {
        expect(claimed.status).toBe('fulfilled')
        expect(answerOf(resumed)).toBe(true)
      },
      finally: () => expectUndone(world, runId),
    }
  },
}

// One compensation is repaired while another one fails for good.
const parkAndRepair: Pair = {
  name: 'park/retry-compensation',
  async given(world): Promise<Meeting<Settlement, unknown>> {
    const { one, two } = world.sessions
    const { runId, a, b } = await givenUndoing(world, one)
    const { workerId } = one
    await world.settle([parked(a)], workerId)
    return {
      one: () => one.adapter.settle({ workerId, outcomes: [parked(b)], handBackMax: 0 }),
      two: () => world.operate(runId, two).retryCompensation('a'),
      async check(settled, repaired) {
        expect(answerOf(settled).results).toEqual(['settled'])
        expect(repaired.status).toBe('fulfilled')
        expect((await world.read(runId)).run.status).toBe('compensation_failed')
        await world.operate(runId, two).skipCompensation('b')
      },
      finally: () => expectUndone(world, runId),
    }
  },
}

describe.each(servers)('pauses of an undo in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('no undo begins once a pause has returned', beginAndPause, () => world)
  itHolds('a plan begins the undo of a resumed run, or nothing', beginAndResume, () => world)
  itHolds('no undo is handed out once a pause has returned', claimUndoAndPause, () => world)
  itHolds(
    'no undo is handed back once a pause has returned',
    settleUndoAndPause('settle-undo', compensated),
    () => world,
  )
  itHolds('a retried undo waits for the resumption', settleUndoAndPause('retry-undo', again), () => world)
  itHolds(
    'the last undo ends the run, and its pause is refused or came before',
    lastUndoAndPause,
    () => world,
  )
  itHolds(
    'the next undos go on',
    settleUndoAndResume('settle-undo', compensated, 'compensating'),
    () => world,
  )
  itHolds('a retried undo is queued', settleUndoAndResume('retry-undo', again, 'compensating'), () => world)
  itHolds('the run is parked', settleUndoAndResume('park', parked, 'compensation_failed'), () => world)
  itHolds('the run stays parked', parkAndRepair, () => world)
  itHolds('lost undos wait for the resumption', sweepAnd('pause'), () => world)
  itHolds('lost undos run once', sweepAnd('resume'), () => world)
  itHolds('the claim gets the undo, or the next claim does', claimUndoAndResume, () => world)
})
