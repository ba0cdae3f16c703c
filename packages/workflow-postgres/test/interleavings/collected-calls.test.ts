import { randomUUID } from 'node:crypto'
import type { CollectedRun, CollectPolicy, NewCall, SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const GRAPH = { a: [], b: [], c: ['a', 'b'] }
const BATCH: CollectPolicy = { mode: 'batch', windowMs: 3_600_000, limitMs: null, callsMax: 2 }
const DEBOUNCE: CollectPolicy = { mode: 'debounce', windowMs: 1, limitMs: null, callsMax: null }

function callOf(definition: SavedDefinition, world: World, input: string, policy: CollectPolicy): NewCall {
  return {
    ...world.newRun(definition),
    callId: randomUUID(),
    ...{ input, collectKey: 'k', policy, inputBytes: input.length, inputMaxBytes: 1_000 },
  }
}

const collect = async ({ adapter }: Session, call: NewCall): Promise<CollectedRun> =>
  (await adapter.collectCalls([call]))[0]!

/** Two processes call with one key that nobody has used. */
const opening: Pair = {
  name: 'collect/collect',
  async given(world): Promise<Meeting<CollectedRun, CollectedRun>> {
    const definition = await world.definition('opened', GRAPH)
    const [first, second] = ['1', '2'].map((input) => callOf(definition, world, input, BATCH))
    const { one, two } = world.sessions
    return {
      one: () => collect(one, first!),
      two: () => collect(two, second!),
      async check(...told) {
        const answers = told.map(answerOf)
        expect(answers.map(({ position }) => position).sort()).toEqual([1, 2])
        expect(new Set(answers.map(({ runId }) => runId)).size, 'runs').toBe(1)
        const inputs = answers[0]!.position === 1 ? '[1,2]' : '[2,1]'
        expect((await recordOf(world, answers[0]!.runId)).input).toBe(inputs)
      },
    }
  },
}

/** A call comes as the run's first steps are claimed. */
const claiming: Pair = {
  name: 'collect/claim',
  async given(world): Promise<Meeting<CollectedRun, unknown>> {
    const definition = await world.definition('claimed', GRAPH)
    const { one, two } = world.sessions
    const opener = await collect(one, callOf(definition, world, '"opened"', DEBOUNCE))
    const later = callOf(definition, world, '"later"', { ...DEBOUNCE, windowMs: 3_600_000 })
    const { workerId } = two
    return {
      one: () => collect(one, later),
      two: () => two.adapter.claim({ workerId, definitionIds: [definition.id], limit: 10 }),
      async check(told, claimed) {
        expect(claimed.status).toBe('fulfilled')
        const { runId } = answerOf(told)
        const joined = runId === opener.runId
        const { steps } = await world.read(opener.runId)
        const begun = steps.filter(({ status }) => status === 'running')
        if (joined) expect(begun, 'steps that began before the joined call').toEqual([])
        expect((await recordOf(world, opener.runId)).input).toBe(joined ? '"later"' : '"opened"')
        expect((await recordOf(world, runId)).input, 'the input of the run that has the call').toBe('"later"')
        await stopCollecting(world, runId)
      },
    }
  },
}

/** A call comes as the run is cancelled. */
const cancelling: Pair = {
  name: 'collect/cancel',
  async given(world): Promise<Meeting<CollectedRun, unknown>> {
    const definition = await world.definition('cancelled', GRAPH)
    const { one, two } = world.sessions
    const opener = await collect(one, callOf(definition, world, '1', { ...BATCH, callsMax: 9 }))
    const later = callOf(definition, world, '2', { ...BATCH, callsMax: 9 })
    const cause = JSON.stringify({ type: 'cancelled', reason: 'no more' })
    return {
      one: () => collect(one, later),
      two: () => two.adapter.cancelRuns({ runIds: [opener.runId], cause }),
      async check(told, cancelled) {
        expect(cancelled).toMatchObject({ status: 'fulfilled', value: [{ runId: opener.runId }] })
        const joined = answerOf(told).runId === opener.runId
        expect((await recordOf(world, opener.runId)).input).toBe(joined ? '[1,2]' : '[1]')
        if (!joined) expect(answerOf(told)).toMatchObject({ created: true, position: 1 })
        await stopCollecting(world, answerOf(told).runId)
      },
    }
  },
}

/** The same call twice, as after a lost answer to a COMMIT that took effect late. */
const repeating: Pair = {
  name: 'collect/the same call',
  async given(world): Promise<Meeting<CollectedRun, CollectedRun>> {
    const definition = await world.definition('repeated', GRAPH)
    const { one, two } = world.sessions
    const call = callOf(definition, world, '1', { ...BATCH, callsMax: 9 })
    return {
      one: () => collect(one, call),
      two: () => collect(two, call),
      async check(...told) {
        const answers = told.map(answerOf)
        expect(answers.map(({ runId }) => runId)).toEqual([call.runId, call.runId])
        expect(answers.map(({ repeated }) => repeated).sort()).toEqual([false, true])
        expect((await recordOf(world, call.runId)).input).toBe('[1]')
        await stopCollecting(world, call.runId)
      },
    }
  },
}

/** Runs that wait for further calls would never end. */
async function stopCollecting(world: World, ...runIds: readonly string[]): Promise<void> {
  await world.store.cancelRuns({ runIds, cause: JSON.stringify({ type: 'cancelled', reason: 'over' }) })
}

async function recordOf(world: World, runId: string) {
  return (await world.read(runId)).run
}

function answerOf(told: PromiseSettledResult<CollectedRun>): CollectedRun {
  expect(told, 'the caller was told').toMatchObject({ status: 'fulfilled' })
  return (told as PromiseFulfilledResult<CollectedRun>).value
}

describe.each(servers)('collected calls in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('both calls are in one run, in the order of their answers', opening, () => world)
  itHolds('a run that has begun does not change, and no call is lost', claiming, () => world)
  itHolds('the call is in the run that its caller was told', cancelling, () => world)
  itHolds('the call counts once', repeating, () => world)
})
