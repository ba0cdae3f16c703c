import type { Claim, Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const LOOP = { 'l[]': [], l: ['l[]'], b: [], after: ['l'] }

/** A run whose loop is in its first round, held by session one. Session two holds b. */
async function givenRound(world: World) {
  const definition = await world.definition('looped', LOOP, 1, { 'l[]': 'repeat', l: 'join' })
  const runId = await world.start(definition)
  const { one, two } = world.sessions
  const [loop, b] = await world.claim(definition, one.workerId)
  await world.settle([{ ...b!, type: 'released' }], one.workerId)
  const [again] = await world.claim(definition, two.workerId)
  const { claims } = await one.adapter.settle({
    workerId: one.workerId,
    outcomes: [{ ...loop!, type: 'expanded', items: [{ key: '1', value: null }], atOnce: null }],
    handBackMax: 1,
  })
  return { definition, runId, round: claims[0]!, b: again! }
}

/** The round ends, and another one follows. */
function repeat({ adapter, workerId }: Session, claim: Claim): Promise<Settlement> {
  const nextItem = { key: '2', value: '1' }
  const outcomes = [{ ...claim, type: 'repeated' as const, output: '1', nextItem, delayMs: 0 }]
  return adapter.settle({ workerId, outcomes, handBackMax: 10 })
}

function answer<Answer>(told: PromiseSettledResult<Answer>): Answer {
  return told.status === 'fulfilled' ? told.value : expect.fail(String(told.reason))
}

/** The next round is cancelled, or its caller has it, or it never begins. */
async function expectStopping(world: World, runId: string, { results, claims }: Settlement): Promise<void> {
  expect(results).toEqual(['settled'])
  expect(await world.step(runId, 'l')).toMatchObject({ status: 'cancelled' })
  const next = await world.step(runId, 'l[2]')
  if (claims.length > 0) expect(next.status).toBe('running')
  else expect(['cancelled', 'ready']).toContain(next.status)
}

/** A late round that ended is undone. */
async function expectUndone(world: World, runId: string, status: string): Promise<void> {
  const { run } = await world.read(runId)
  expect(run.status).toBe(status)
  expect(await world.step(runId, 'l[1]')).toMatchObject({ status: 'compensated' })
  expect(['compensated', 'cancelled']).toContain((await world.step(runId, 'l[2]')).status)
}

const repeatAndFail: Pair = {
  name: 'repeat/fail',
  async given(world): Promise<Meeting<Settlement, Settlement>> {
    const { runId, round, b } = await givenRound(world)
    const { one, two } = world.sessions
    return {
      one: () => repeat(one, round),
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes: [failed(b)], handBackMax: 0 }),
      async check(repeated, failing) {
        expect(answer(failing).results).toEqual(['settled'])
        await expectStopping(world, runId, answer(repeated))
      },
      finally: () => expectUndone(world, runId, 'compensated'),
    }
  },
}

const repeatAndCancel: Pair = {
  name: 'repeat/cancel',
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const { runId, round } = await givenRound(world)
    const { one, two } = world.sessions
    return {
      one: () => repeat(one, round),
      two: () => world.operate(runId, two).cancel(),
      async check(repeated, cancelled) {
        expect(answer(cancelled)).toBe(true)
        await expectStopping(world, runId, answer(repeated))
      },
      finally: () => expectUndone(world, runId, 'cancelled'),
    }
  },
}

const repeatAndPause: Pair = {
  name: 'repeat/pause',
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const { definition, runId, round } = await givenRound(world)
    const { one, two } = world.sessions
    return {
      one: () => repeat(one, round),
      two: () => world.operate(runId, two).pause(),
      async check(repeated, paused) {
        expect(answer(paused)).toBe(true)
        const { results, claims } = answer(repeated)
        expect(results).toEqual(['settled'])
        const next = await world.step(runId, 'l[2]')
        if (claims.length > 0) expect(next.status).toBe('running')
        else expect(next).toMatchObject({ status: 'ready', openDependencies: 0 })
        expect(await world.claim(definition)).toEqual([])
      },
      finally: () => expectCompleted(world, runId),
    }
  },
}

const repeatAndResume: Pair = {
  name: 'repeat/resume',
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const { runId, round } = await givenRound(world)
    const { one, two } = world.sessions
    await world.operate(runId, two).pause()
    return {
      one: () => repeat(one, round),
      two: () => world.operate(runId, two).resume(),
      async check(repeated, resumed) {
        expect(answer(resumed)).toBe(true)
        const { results, claims } = answer(repeated)
        expect(results).toEqual(['settled'])
        const { status, openDependencies } = await world.step(runId, 'l[2]')
        expect([status, openDependencies]).toEqual([claims.length > 0 ? 'running' : 'ready', 0])
      },
      finally: () => expectCompleted(world, runId),
    }
  },
}

async function expectCompleted(world: World, runId: string): Promise<void> {
  const { run, steps } = await world.read(runId)
  expect(run.status).toBe('completed')
  expect(steps.map(({ name, status }) => `${name} ${status}`)).toContain('l[2] completed')
}

describe.each(servers)('a round that ends, and another caller, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('the next round never begins in a stopped run, and the round is undone', repeatAndFail, () => world)
  itHolds(
    'the next round never begins in a stopped run, and the round is undone',
    repeatAndCancel,
    () => world,
  )
  itHolds('the next round begins before the pause, or after the resumption', repeatAndPause, () => world)
  itHolds('the next round begins once', repeatAndResume, () => world)
})
