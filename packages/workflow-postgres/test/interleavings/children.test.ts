import type { Claim, SavedDefinition, WokenParent } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const PARENT = { asks: [], other: [], after: ['asks'] }

/** A run whose step `asks` has started a child, and is held by session one. */
async function givenRunning(world: World) {
  const definition = await world.definition('parent', PARENT)
  const runId = await world.start(definition)
  const claims = await world.claim(definition, world.sessions.one.workerId)
  const asks = claims.find(({ step }) => definition.shape.steps[step]!.name === 'asks')!
  const child = world.newRun(await world.definition('child', { only: [] }))
  await world.store.startRuns([{ ...child, parent: { runId, step: asks.step } }])
  return { definition, runId, asks, childId: child.runId }
}

/** The same, and the step waits for its child. */
async function givenWaiting(world: World) {
  const given = await givenRunning(world)
  await world.settle([waits(given.asks)], world.sessions.one.workerId)
  return given
}

/** The same, and the step's undo waits for the child. */
async function givenUndo(world: World) {
  const given = await givenWaiting(world)
  const { definition, runId, childId } = given
  await world.store.wakeParents([childId])
  for (const claim of await world.claim(definition)) {
    if (claim.runId === runId) await world.settle([{ ...claim, type: 'completed', output: '1' }])
  }
  await world.store.cancelRuns({
    runIds: [runId],
    cause: JSON.stringify({ type: 'cancelled' }),
  })
  const { one } = world.sessions
  await world.settle(
    (await world.store.held({ workerId: one.workerId })).map((claim) => ({ ...claim, type: 'released' })),
    one.workerId,
  )
  await world.store.beginUndo([world.planUndo(await world.drained(runId))])
  const [undo] = await world.claim(definition)
  await world.settle([{ ...undo!, type: 'released', begun: false, delayMs: 600_000 }])
  return given
}

const waits = (claim: Claim) => ({ ...claim, type: 'waiting' as const, wake: null })

const wake = async ({ adapter }: Session, childId: string): Promise<WokenParent> =>
  (await adapter.wakeParents([childId]))[0]!

function answer<Answer>(told: PromiseSettledResult<Answer>): Answer {
  return told.status === 'fulfilled' ? told.value : expect.fail(String(told.reason))
}

/** Tells the end again if nobody was there to hear it, as a follower does. Afterwards the step looks, or has ended. */
async function expectTold(
  world: World,
  { definition, runId, childId }: { definition: SavedDefinition; runId: string; childId: string },
  first: WokenParent,
): Promise<void> {
  const told = first.result === 'busy' ? (await world.store.wakeParents([childId]))[0]! : first
  const { status, availableAt } = await world.step(runId, 'asks')
  if (told.result === 'over') {
    expect(['cancelled', 'ready', 'completed', 'compensated']).toContain(status)
    return
  }
  expect(told).toMatchObject({ result: 'woken' })
  if (status === 'waiting') expect(availableAt).not.toBeNull()
  const { run } = await world.read(runId)
  if (run.status === 'paused') expect(await world.claim(definition)).toEqual([])
  else if (status === 'waiting' || status === 'compensating')
    expect((await world.claim({ ...definition, id: run.definitionId })).map(({ runId: of }) => of)).toContain(
      runId,
    )
}

function pairOf<Other>(
  name: string,
  prepare: typeof givenRunning,
  other: (world: World, given: Awaited<ReturnType<typeof givenRunning>>) => Promise<Other>,
): Pair {
  return {
    name,
    async given(world): Promise<Meeting<WokenParent, Other>> {
      const given = await prepare(world)
      return {
        one: () => wake(world.sessions.one, given.childId),
        two: () => other(world, given),
        async check(woken, told) {
          answer(told)
          await expectTold(world, given, answer(woken))
        },
        async finally() {
          const { run } = await world.read(given.runId)
          expect(['completed', 'cancelled', 'compensated']).toContain(run.status)
        },
      }
    },
  }
}

const PAIRS: readonly Pair[] = [
  pairOf('wake/wake', givenWaiting, (world, { childId }) => wake(world.sessions.two, childId)),
  pairOf('wake/wait', givenRunning, ({ sessions: { one, two } }, { asks }) =>
    two.adapter.settle({ workerId: one.workerId, outcomes: [waits(asks)], handBackMax: 0 }),
  ),
  pairOf('wake/pause', givenWaiting, (world, { runId }) => world.operate(runId, world.sessions.two).pause()),
  pairOf(
    'wake/resume',
    async (world) => {
      const given = await givenWaiting(world)
      await world.operate(given.runId, world.sessions.two).pause()
      return given
    },
    (world, { runId }) => world.operate(runId, world.sessions.two).resume(),
  ),
  pairOf('wake/cancel', givenWaiting, (world, { runId }) =>
    world.operate(runId, world.sessions.two).cancel(),
  ),
  pairOf('wake/retry step', givenWaiting, (world, { runId }) =>
    world
      .operate(runId, world.sessions.two)
      .retryStep('asks')
      .catch(() => false),
  ),
  pairOf('wake the undo/wake', givenUndo, (world, { childId }) => wake(world.sessions.two, childId)),
  pairOf('wake the undo/pause', givenUndo, (world, { runId }) =>
    world.operate(runId, world.sessions.two).pause(),
  ),
]

describe.each(servers)('the end of a child, and another caller, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  for (const pair of PAIRS)
    itHolds('the step looks at its child, or nobody waits any more', pair, () => world)
})
