import type { Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

/** What has begun in a run by now: the fences of all its steps. */
async function begunOf(world: World, runId: string): Promise<readonly number[]> {
  return (await world.read(runId)).steps.map(({ fence }) => fence)
}

/** Pauses a run, and at once reads what has begun in it. */
async function pause(world: World, session: Session, runId: string): Promise<readonly number[]> {
  await world.operate(runId, session).pause()
  return begunOf(world, runId)
}

const claimAndPause: Pair = {
  name: 'claim/pause',
  async given(world): Promise<Meeting<unknown, readonly number[]>> {
    const definition = await world.definition('claimed', { a: [], b: ['a'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    return {
      one: () => one.adapter.claim({ workerId: one.workerId, definitionIds: [definition.id], limit: 10 }),
      two: () => pause(world, two, runId),
      async check(claimed, paused) {
        expect(claimed.status).toBe('fulfilled')
        await expectNothingBegun(world, runId, paused)
        expect((await world.read(runId)).run.status).toBe('paused')
      },
    }
  },
}

async function expectNothingBegun(
  world: World,
  runId: string,
  paused: PromiseSettledResult<readonly number[]>,
): Promise<void> {
  expect(paused.status).toBe('fulfilled')
  const { value } = paused as PromiseFulfilledResult<readonly number[]>
  expect(await begunOf(world, runId), 'begun when the pause returned, and now').toEqual(value)
}

const settleAndPause: Pair = {
  name: 'settle/pause',
  async given(world): Promise<Meeting<Settlement, readonly number[]>> {
    const definition = await world.definition('handed-back', { a: [], b: ['a'], c: ['a'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const outcomes = (await world.claim(definition, one.workerId)).map(completed)
    return {
      one: () => one.adapter.settle({ workerId: one.workerId, outcomes, handBackMax: 1 }),
      two: () => pause(world, two, runId),
      async check(settlement, paused) {
        expect(settlement).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        await expectNothingBegun(world, runId, paused)
      },
    }
  },
}

const pauseAndFail: Pair = {
  name: 'pause/fail',
  async given(world): Promise<Meeting<boolean, Settlement>> {
    const definition = await world.definition('failing', { a: [], b: ['a'], c: [], d: ['b', 'c'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const [a] = await world.claim(definition, two.workerId)
    return {
      one: () => world.operate(runId, one).pause(),
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes: [failed(a!)], handBackMax: 0 }),
      async check(paused, settlement) {
        expect(settlement).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        expect(paused).toEqual({ status: 'fulfilled', value: true })
        const { run, steps } = await world.read(runId)
        expect(run).toMatchObject({ status: 'paused', cause: expect.any(String) })
        expect(steps.map(({ status }) => status)).toEqual(['failed', 'cancelled', 'running', 'cancelled'])
        const noted = await world.sql('select action from belay.workflow_history where run_id = $1', [runId])
        expect(noted, 'the pause is in the history').toHaveLength(1)
      },
      async finally() {
        expect((await world.read(runId)).run.status).toBe('compensated')
      },
    }
  },
}

const cancelAndSettle = (
  name: string,
  edges: Readonly<Record<string, readonly string[]>>,
  handBackMax: number,
): Pair => ({
  name,
  async given(world): Promise<Meeting<boolean, Settlement>> {
    const definition = await world.definition(name, edges)
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const outcomes = (await world.claim(definition, two.workerId)).map(completed)
    let cancelled = false
    return {
      one: () => world.operate(runId, one).cancel(),
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes, handBackMax }),
      async check(told, settlement) {
        expect(settlement).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        expect(told.status).toBe('fulfilled')
        cancelled = (told as PromiseFulfilledResult<boolean>).value
        const ended = (settlement as PromiseFulfilledResult<Settlement>).value.runs
        const { run, steps } = await world.read(runId)
        expect(steps[0]!.status, 'a settled step stays settled').toBe('completed')
        expect([run.status, ended.length]).toEqual(cancelled ? ['compensating', 0] : ['completed', 1])
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect(run.status).toBe(cancelled ? 'cancelled' : 'completed')
        expect(steps[0]!.status, 'a completed step is undone').toBe(cancelled ? 'compensated' : 'completed')
      },
    }
  },
})

describe.each(servers)('operators in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('nothing begins once a pause has returned', claimAndPause, () => world)
  itHolds('nothing is handed back once a pause has returned', settleAndPause, () => world)
  itHolds('the run stays paused, and is undone once it is resumed', pauseAndFail, () => world)
  itHolds(
    'a step that ends while its run is cancelled is undone, and so are the steps that it makes ready',
    cancelAndSettle('cancel/settle', { a: [], b: ['a'], c: ['a'] }, 1),
    () => world,
  )
  itHolds(
    'the run is cancelled or completed, as its operator and its worker were told',
    cancelAndSettle('cancel/settle last', { a: [] }, 0),
    () => world,
  )
})
