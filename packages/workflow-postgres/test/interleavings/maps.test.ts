import { type Claim, isItem, itemIndex, type Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const MAP = { 'm[]': [], m: ['m[]'] }

/**
 * A retried run whose map may have two items under way, and of whose six items those at 1 and 4 had completed. Session one holds that at 0, that at 2 is
 * ready, and those at 3 and 5 wait for their turn.
 */
async function givenRetried(world: World): Promise<{ runId: string; claim: Claim }> {
  const kinds = { 'm[]': 'map', m: 'join' } as const
  const definition = await world.definition('mapped', MAP, 1, kinds, { 'm[]': { onFailure: 'continue' } })
  const runId = await world.start(definition)
  const { one } = world.sessions
  const [opener] = await world.claim(definition)
  const items = Array.from({ length: 6 }, (_, n) => ({ key: String(n), value: null }))
  await world.settle([{ ...opener!, type: 'expanded', items, atOnce: 2 }])
  for (let ended = 0; ended < 6; ) {
    const claims = await world.claim(definition)
    await world.settle(claims.map(collected))
    ended += claims.length
  }
  const [join] = await world.claim(definition)
  await world.settle([failed(join!)])
  const { fences } = await world.drained(runId)
  await world.store.beginUndo([{ runId, fences, endsAs: 'failed', undos: [] }])
  await world.operate(runId, one).retry()
  const [claim, other] = await world.claim(definition, one.workerId)
  await world.settle([{ ...other!, type: 'released' }], one.workerId)
  return { runId, claim: claim! }
}

function collected(claim: Claim) {
  if ([1, 4].includes(itemIndex(claim.step))) return completed(claim)
  return {
    ...claim,
    type: 'failed' as const,
    error: '{"name":"Error","message":"no"}',
    continues: true as const,
  }
}

function complete({ adapter, workerId }: Session, claim: Claim): Promise<Settlement> {
  return adapter.settle({ workerId, outcomes: [completed(claim)], handBackMax: 0 })
}

/** The statuses of the items at 0, 2, 3 and 5. */
async function statuses(world: World, runId: string): Promise<readonly string[]> {
  const { steps } = await world.read(runId)
  const items = steps.filter(({ step }) => isItem(step))
  return [0, 2, 3, 5].map((index) => items[index]!.status)
}

async function expectCompleted(world: World, runId: string): Promise<void> {
  expect((await world.read(runId)).run.status).toBe('completed')
}

function pairOf(
  name: string,
  act: (world: World, runId: string) => Promise<unknown>,
  check: (world: World, runId: string) => Promise<void>,
): Pair {
  return {
    name,
    async given(world): Promise<Meeting<Settlement, unknown>> {
      const { runId, claim } = await givenRetried(world)
      return {
        one: () => complete(world.sessions.one, claim),
        two: () => act(world, runId),
        async check(ended, acted) {
          expect(ended).toMatchObject({ status: 'fulfilled', value: { results: ['settled'] } })
          expect(acted.status).toBe('fulfilled')
          await check(world, runId)
        },
        finally: () => expectCompleted(world, runId),
      }
    },
  }
}

const endAndSkip = pairOf(
  'end/skip',
  (world, runId) => world.operate(runId, world.sessions.two).skipStep('m[2]'),
  async (world, runId) =>
    expect(await statuses(world, runId)).toEqual(['completed', 'skipped', 'ready', 'ready']),
)

const endAndPause = pairOf(
  'end/pause',
  (world, runId) => world.operate(runId, world.sessions.two).pause(),
  async (world, runId) => {
    await world.operate(runId, world.sessions.two).resume()
    expect(await statuses(world, runId)).toEqual(['completed', 'ready', 'ready', 'pending'])
  },
)

const endAndRetry = pairOf(
  'end/retryStep',
  (world, runId) => world.operate(runId, world.sessions.two).retryStep('m[2]'),
  async (world, runId) =>
    expect(await statuses(world, runId)).toEqual(['completed', 'ready', 'ready', 'pending']),
)

describe.each(servers)('an item that ends in a retried run, and an operator, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('each of the two lets one other item begin', endAndSkip, () => world)
  itHolds('one other item has its turn', endAndPause, () => world)
  itHolds('one other item begins', endAndRetry, () => world)
})
