import type {
  Claim,
  LimitNumbers,
  Outcome,
  SavedDefinition,
  Settlement,
  TendedLimits,
} from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const LIMIT = 'stripe'

const enters = (claim: Claim): Outcome => ({
  ...claim,
  type: 'enters',
  entries: [{ limit: LIMIT, key: '', of: 'step' }],
})

const settle = ({ adapter, workerId }: Session, outcomes: readonly Outcome[]): Promise<Settlement> =>
  adapter.settle({
    workerId,
    outcomes,
    handBackMax: 0,
    frees: outcomes.filter(({ type }) => type !== 'enters'),
  })

const tend = ({ adapter }: Session): Promise<TendedLimits> => adapter.tendLimits({ after: null, limit: 100 })

/** Runs of one step, and how many slots they share. Each of them is claimed by one of the sessions. */
async function limited(world: World, slots: number, ...claimers: readonly Session[]) {
  await world.store.declareLimits([{ name: LIMIT, concurrency: slots }])
  const definition = await world.definition('limited', { a: [] })
  const claims: Claim[] = []
  for (const { workerId } of claimers) {
    await world.start(definition)
    claims.push(...(await world.claim(definition, workerId)))
  }
  return { definition, claims }
}

/** What nobody free gave is given by whoever tends: in the end every step that waits has had its turn, and no slot is taken. */
async function endAll(world: World, definition: SavedDefinition): Promise<void> {
  const { one } = world.sessions
  const { store } = world
  await store.setLimit({ name: LIMIT, concurrency: null })
  for (let round = 0; round < 20; round += 1) {
    const { workerId } = one
    await store.tendLimits({ after: null, limit: 100 })
    const claims = await world.claim(definition, workerId)
    const asked = await store.settle({ workerId, outcomes: claims.map(enters), handBackMax: 0 })
    const begun = claims.filter((_, index) => asked.results[index] === 'settled')
    const ends = begun.map(completed)
    await store.settle({ workerId, outcomes: ends, handBackMax: 0, frees: ends })
    for (const session of [world.sessions.one, world.sessions.two]) {
      const held = (await store.held({ workerId: session.workerId })).map(completed)
      await store.settle({ workerId: session.workerId, outcomes: held, handBackMax: 0, frees: held })
    }
    const { inUse, waiting } = (await store.readLimits([LIMIT]))[0]!
    if (inUse === 0 && waiting === 0) return
  }
  expect.fail(`Steps wait for ever: ${JSON.stringify(await store.readLimits([LIMIT]))}`)
}

/** Lets whoever was called ask, after a look at the limits. */
async function takeTurns(world: World, definition: SavedDefinition): Promise<Settlement['results']> {
  const { workerId } = world.sessions.one
  await world.store.tendLimits({ after: null, limit: 100 })
  const claims = await world.claim(definition, workerId)
  const { results } = await world.store.settle({ workerId, outcomes: claims.map(enters), handBackMax: 0 })
  return results
}

/** Steps that were called, and have not come, were called a second ago. */
async function passASecond(world: World): Promise<void> {
  await world.sql('update belay.workflow_limit_waiters set called_ms = called_ms - 1001')
}

const recordOf = async ({ store }: World) => (await store.readLimits([LIMIT]))[0]!

function resultsOf(settled: PromiseSettledResult<Settlement>): Settlement['results'] {
  expect(settled).toMatchObject({ status: 'fulfilled' })
  return (settled as PromiseFulfilledResult<Settlement>).value.results
}

const setting = (from: number, to: number): Pair => ({
  name: `enter/set ${from} to ${to}`,
  async given(world): Promise<Meeting<Settlement, LimitNumbers | null>> {
    const { one, two } = world.sessions
    const { definition, claims } = await limited(world, from, one, one)
    return {
      one: () => settle(one, claims.map(enters)),
      two: () => two.adapter.setLimit({ name: LIMIT, concurrency: to }),
      async check(entered, set) {
        expect(set).toMatchObject({ status: 'fulfilled', value: { concurrency: to } })
        const results = resultsOf(entered)
        const begun = results.filter((result) => result === 'settled').length
        // Whoever tends calls those who were parked under the old number.
        await takeTurns(world, definition)
        const { inUse, waiting } = await recordOf(world)
        expect(inUse + waiting, 'nobody is lost').toBe(2)
        expect(inUse).toBeLessThanOrEqual(Math.max(from, to))
        expect(begun, 'who has begun has a slot').toBeLessThanOrEqual(inUse)
        if (to > from) expect(inUse, 'a higher number gives slots').toBe(to)
        await endAll(world, definition)
      },
    }
  },
})

const freeing: Pair = {
  name: 'free/free',
  async given(world): Promise<Meeting<Settlement, Settlement>> {
    const { one, two } = world.sessions
    const { definition, claims } = await limited(world, 2, one, two, one, two)
    const [first, second, third, fourth] = claims as [Claim, Claim, Claim, Claim]
    for (const [session, claim] of [
      [one, first],
      [two, second],
      [one, third],
      [two, fourth],
    ] as const)
      await settle(session, [enters(claim)])
    return {
      one: () => settle(one, [completed(first)]),
      two: () => settle(two, [completed(second)]),
      async check(...settled) {
        expect(settled.map(resultsOf)).toEqual([['settled'], ['settled']])
        expect(await takeTurns(world, definition), 'both slots are given').toEqual(['settled', 'settled'])
        expect(await recordOf(world)).toMatchObject({ inUse: 2, waiting: 0 })
        await endAll(world, definition)
      },
      finally: () => atRest(world),
    }
  },
}

const sweeping: Pair = {
  name: 'sweep/settle and free',
  async given(world): Promise<Meeting<unknown, Settlement>> {
    const { one, two } = world.sessions
    const { definition, claims } = await limited(world, 1, two, one)
    const [holder, waiter] = claims as [Claim, Claim]
    await settle(two, [enters(holder)])
    await settle(one, [enters(waiter)])
    await world.expire(two)
    return {
      async one() {
        await one.adapter.sweep({ limit: 100 })
        return tend(one)
      },
      two: () => settle(two, [completed(holder)]),
      async check(_, late) {
        const [result] = resultsOf(late)
        const { steps } = await world.read(holder.runId)
        expect(steps[0]!.status).toBe(result === 'settled' ? 'completed' : 'ready')
        await takeTurns(world, definition)
        expect((await recordOf(world)).inUse, 'the slot goes on, and is not doubled').toBe(1)
        expect((await world.read(waiter.runId)).steps[0]!.status, 'who has waited longest has it').toBe(
          'running',
        )
        await endAll(world, definition)
      },
    }
  },
}

const tending: Pair = {
  name: 'tend/enter',
  async given(world): Promise<Meeting<TendedLimits, Settlement>> {
    const { one, two } = world.sessions
    const { definition, claims } = await limited(world, 1, one, one, two)
    const [holder, waiter, entering] = claims as [Claim, Claim, Claim]
    await settle(one, [enters(holder), enters(waiter)])
    // Its process dies before it frees the slot.
    const { workerId } = one
    await one.adapter.settle({ workerId, outcomes: [completed(holder)], handBackMax: 0 })
    return {
      one: () => tend(one),
      two: () => settle(two, [enters(entering)]),
      async check(_, entered) {
        expect(resultsOf(entered), 'nobody overtakes who waits').toEqual(['parked'])
        await world.store.tendLimits({ after: null, limit: 100 })
        expect(await recordOf(world)).toMatchObject({ inUse: 0, waiting: 1 })
        expect(await takeTurns(world, definition)).toEqual(['settled'])
        expect((await world.read(waiter.runId)).steps[0]!.status).toBe('running')
        await endAll(world, definition)
      },
      finally: () => atRest(world),
    }
  },
}

const cancelling: Pair = {
  name: 'free/cancel the waiter',
  async given(world): Promise<Meeting<Settlement, unknown>> {
    const { one, two } = world.sessions
    const { definition, claims } = await limited(world, 1, one, one, one)
    const [holder, first, second] = claims as [Claim, Claim, Claim]
    await settle(one, claims.map(enters))
    const cause = JSON.stringify({ type: 'cancelled', reason: 'no more' })
    return {
      one: () => settle(one, [completed(holder)]),
      two: () => two.adapter.cancelRuns({ runIds: [first.runId], cause }),
      async check(settled, cancelled) {
        expect(resultsOf(settled)).toEqual(['settled'])
        expect(cancelled).toMatchObject({ status: 'fulfilled' })
        await passASecond(world)
        expect(await takeTurns(world, definition), 'the slot is with who waits next').toEqual(['settled'])
        expect(await recordOf(world)).toMatchObject({ inUse: 1, waiting: 0 })
        expect((await world.read(second.runId)).steps[0]!.status).toBe('running')
        await endAll(world, definition)
      },
      finally: () => atRest(world),
    }
  },
}

async function atRest(world: World): Promise<void> {
  await world.store.tendLimits({ after: null, limit: 100 })
  expect(await recordOf(world)).toMatchObject({ inUse: 0, waiting: 0 })
}

describe.each(servers)('limits in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('a limit that is lowered meanwhile loses nobody', setting(2, 1), () => world)
  itHolds('a limit that is raised meanwhile has all its slots taken', setting(1, 2), () => world)
  itHolds('both slots go to those who wait', freeing, () => world)
  itHolds('the slot of a worker that was lost is freed once', sweeping, () => world)
  itHolds('a slot that nobody freed goes to who waits, before who comes', tending, () => world)
  itHolds('the slot does not go to a step whose run was cancelled', cancelling, () => world)
})
