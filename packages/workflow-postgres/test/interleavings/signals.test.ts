import { createEngine } from '@belay/workflow'
import type { Delivery, SavedDefinition, Wake } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const BEFORE = { ask: [], after: ['ask'] }
const PAYLOAD = '"signal"'

/** A run whose step `ask` runs at the finisher. */
async function givenRunning(world: World, name: string) {
  const definition = await world.definition(name, BEFORE)
  const runId = await world.start(definition)
  const [ask] = await world.claim(definition)
  return { definition, runId, ask: ask! }
}

/** A run whose step `ask` waits for a signal until its timeout. */
async function givenWaiting(world: World, name: string, wake: Wake | null) {
  const given = await givenRunning(world, name)
  await world.settle([{ ...given.ask, type: 'waiting', wake }])
  return given
}

const deliver = async (
  world: World,
  { adapter }: Session,
  { definition, runId }: { readonly definition: SavedDefinition; readonly runId: string },
): Promise<Delivery> => (await adapter.deliverSignals([world.signal(definition, runId, 0)]))[0]!

/** An acknowledged signal is in the step that waits for it, and a refused one is nowhere. */
async function expectAsTold(
  world: World,
  runId: string,
  told: PromiseSettledResult<Delivery>,
): Promise<boolean> {
  expect(told, 'the sender was told').toMatchObject({ status: 'fulfilled' })
  const { result } = (told as PromiseFulfilledResult<Delivery>).value
  const acknowledged = result === 'delivered' || result === 'kept'
  const recorded = await world.sql<{ step: number }>(
    'select step from belay.workflow_signals where run_id = $1 and key = $2',
    [runId, 'signal'],
  )
  const { steps } = await world.read(runId)
  const ask = steps.find(({ name }) => name === 'ask')!
  const sent = `a signal whose answer was ${result}`
  expect(recorded, `${sent} is recorded for the step that waits`).toEqual(
    acknowledged ? [{ step: ask.step }] : [],
  )
  expect(ask.signalledAt !== null, `${sent} is in the step that waits`).toBe(acknowledged)
  for (const other of steps) {
    if (other.step !== ask.step) expect(other.signalledAt, `${sent} is in no other step`).toBeNull()
  }
  return acknowledged
}

async function expectOutput(world: World, runId: string, output: string): Promise<void> {
  expect((await world.step(runId, 'ask')).output, 'the output in the end').toBe(output)
}

const migrating = (name: string, after: Readonly<Record<string, readonly string[]>>): Pair => ({
  name,
  async given(world): Promise<Meeting<Delivery, boolean>> {
    const given = await givenWaiting(world, name, null)
    const { one, two } = world.sessions
    const { id: _, ...record } = await world.definition(name, after, 2)
    const workflow = { name, version: 2, record } as never
    let acknowledged = false
    return {
      one: () => deliver(world, one, given),
      two: () => createEngine({ adapter: two.adapter }).migrateRun(given.runId, workflow),
      async check(delivery, moved) {
        expect(moved).toEqual({ status: 'fulfilled', value: true })
        acknowledged = await expectAsTold(world, given.runId, delivery)
      },
      finally: () => expectOutput(world, given.runId, acknowledged ? PAYLOAD : '"late"'),
    }
  },
})

const settling: Pair = {
  name: 'deliver/settle',
  async given(world): Promise<Meeting<Delivery, unknown>> {
    const given = await givenRunning(world, 'settled')
    const { one, two } = world.sessions
    await world.settle([{ ...given.ask, type: 'released' }])
    const [ask] = await world.claim(given.definition, two.workerId)
    const { workerId } = two
    return {
      one: () => deliver(world, one, given),
      two: () =>
        two.adapter.settle({
          workerId,
          outcomes: [{ ...ask!, type: 'waiting', wake: null }],
          handBackMax: 0,
        }),
      async check(delivery, settlement) {
        expect(settlement).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
        expect(await expectAsTold(world, given.runId, delivery), 'the signal was taken').toBe(true)
        expect(await world.step(given.runId, 'ask')).toMatchObject({ status: 'ready', output: PAYLOAD })
      },
      finally: () => expectOutput(world, given.runId, PAYLOAD),
    }
  },
}

const timingOut: Pair = {
  name: 'deliver/timeout',
  async given(world): Promise<Meeting<Delivery, string>> {
    const given = await givenWaiting(world, 'timed', { afterMs: 0 })
    const { one, two } = world.sessions
    const { definition, runId } = given
    let acknowledged = false
    return {
      one: () => deliver(world, one, given),
      two: () => dealWithTimeout(two, definition, runId),
      async check(delivery, dealt) {
        acknowledged = await expectAsTold(world, runId, delivery)
        expect(dealt.status).toBe('fulfilled')
        // Nothing to claim: the delivery was making the step ready meanwhile. It is claimed in the end.
        const { value } = dealt as PromiseFulfilledResult<string>
        if (value !== 'nothing') expect(value).toBe(acknowledged ? 'received' : 'stand-in')
      },
      finally: () => expectOutput(world, runId, acknowledged ? PAYLOAD : '"stand-in"'),
    }
  },
}

/** What the engine does with a step whose timeout may have come. */
async function dealWithTimeout(
  { adapter, workerId }: Session,
  definition: SavedDefinition,
  runId: string,
): Promise<string> {
  const claimed = await adapter.claim({ workerId, definitionIds: [definition.id], limit: 10 })
  if (claimed === 'lost') return 'lost'
  const [claim] = claimed.claims
  if (claim === undefined) return 'nothing'
  const [loaded] = await adapter.load([{ runId, steps: [0] }])
  const received = loaded!.steps[0]!.signalledAt !== null
  const outcome = received
    ? ({ ...claim, type: 'received' } as const)
    : ({ ...completed(claim), output: '"stand-in"' } as const)
  const { results } = await adapter.settle({ workerId, outcomes: [outcome as never], handBackMax: 10 })
  return results[0] === 'lost' ? 'lost' : received ? 'received' : 'stand-in'
}

describe.each(servers)('signals in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds(
    'an acknowledged signal is in the step that waits, wherever that has moved',
    migrating('deliver/migrate', { intro: [], ask: [], after: ['ask', 'intro'] }),
    () => world,
  )
  itHolds(
    'an acknowledged signal is in the step that waits, which keeps its place',
    migrating('deliver/migrate in place', { ask: [], after: ['ask'], more: ['after'] }),
    () => world,
  )
  itHolds('the step is ready with the signal', settling, () => world)
  itHolds('the step has the signal or the stand-in, as the sender was told', timingOut, () => world)
})
