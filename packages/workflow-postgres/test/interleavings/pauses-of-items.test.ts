import { type Claim, isItem, type SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

// A pause and a resumption leave the items of maps alone. What makes items begin, or ready, beside them:
//
// | beside                       | pause                                           | resume                                                   |
// |------------------------------|-------------------------------------------------|----------------------------------------------------------|
// | a claim, of one or of many   | comes before, or sees the pause under its lock   | comes before, or the hints that it discards are replaced |
// | the end of an item           | hands back the next one before, or holds its turn | the next one is queued by one of the two                |
// | a map that decides its items | they begin before, or none is leased or queued   | they are queued by one of the two                        |
// | a release, then a claim      | the claim comes before, or sees the pause        | the item is queued by one of the two, and stays queued   |
// | a sweep, then a claim        | the same                                        | the same                                                 |

const MAP = { 'm[]': [], m: ['m[]'], b: [] }

interface Given {
  readonly definition: SavedDefinition
  readonly runId: string
  readonly one: Session
  /** What session one holds: the map, or its items. */
  readonly held: readonly Claim[]
}

/** Something that makes items begin or ready: what it needs, and how session one does it. */
interface Act {
  readonly name: string
  given(world: World): Promise<Omit<Given, 'one'>>
  act(given: Given): Promise<unknown>
}

/** A run whose map is held by session one. */
async function givenMap(world: World) {
  const definition = await world.definition('paused map', MAP, 1, { 'm[]': 'map', m: 'join' })
  const runId = await world.start(definition)
  const { workerId } = world.sessions.one
  const claims = await world.claim(definition, workerId)
  await world.settle(claims.filter(({ step }) => step === 2).map(completed), workerId)
  return { definition, runId, held: claims.filter(({ step }) => step === 0) }
}

function expanded(claim: Claim, items: number, atOnce: number | null) {
  const keys = Array.from({ length: items }, (_, index) => ({ key: String(index), value: null }))
  return { ...claim, type: 'expanded' as const, items: keys, atOnce }
}

/** A run whose map has items, of which session one holds so many. */
async function givenItems(world: World, items: number, atOnce: number | null, holds: number) {
  const { definition, runId, held: maps } = await givenMap(world)
  const { workerId, adapter } = world.sessions.one
  await world.settle([expanded(maps[0]!, items, atOnce)], workerId)
  if (holds === 0) return { definition, runId, held: [] }
  const claimed = await adapter.claim({ workerId, definitionIds: [definition.id], limit: holds })
  return { definition, runId, held: claimed === 'lost' ? [] : claimed.claims }
}

function claim({ one: { adapter, workerId }, definition }: Given): Promise<unknown> {
  return adapter.claim({ workerId, definitionIds: [definition.id], limit: 100 })
}

const ACTS: readonly Act[] = [
  { name: 'claim', given: (world) => givenItems(world, 3, null, 0), act: claim },
  { name: 'claim-many', given: (world) => givenItems(world, 70, null, 0), act: claim },
  {
    name: 'end',
    given: (world) => givenItems(world, 5, 2, 1),
    act: ({ one: { adapter, workerId }, held }) =>
      adapter.settle({ workerId, outcomes: held.map(completed), handBackMax: 10 }),
  },
  {
    name: 'expand',
    given: givenMap,
    act: ({ one: { adapter, workerId }, held }) =>
      adapter.settle({ workerId, outcomes: [expanded(held[0]!, 4, 3)], handBackMax: 1 }),
  },
  {
    name: 'release',
    given: (world) => givenItems(world, 1, null, 1),
    async act(given) {
      const { adapter, workerId } = given.one
      const outcomes = given.held.map((held) => ({ ...held, type: 'released' as const }))
      await adapter.settle({ workerId, outcomes, handBackMax: 0 })
      await claim(given)
    },
  },
  {
    name: 'sweep',
    async given(world) {
      const { two } = world.sessions
      const found = await givenItems(world, 2, null, 0)
      await world.claim(found.definition, two.workerId)
      await world.expire(two)
      return found
    },
    async act(given) {
      await given.one.adapter.sweep({ limit: 10 })
      await claim(given)
    },
  },
]

/** The items that workers hold, with their fences. */
async function runningIn(world: World, runId: string): Promise<readonly string[]> {
  const { steps } = await world.read(runId)
  return steps.flatMap(({ step, status, fence }) => (status === 'running' ? [`${step}:${fence}`] : []))
}

function answerOf<Value>(told: PromiseSettledResult<Value>): Value {
  return told.status === 'fulfilled' ? told.value : expect.fail(String(told.reason))
}

async function expectCompleted(world: World, runId: string): Promise<void> {
  const { run, steps } = await world.read(runId)
  expect(run.status).toBe('completed')
  expect(steps.filter(({ step }) => isItem(step)).every(({ status }) => status === 'completed')).toBe(true)
}

const besidePause = ({ name, given, act }: Act): Pair => ({
  name: `${name}/pause`,
  async given(world): Promise<Meeting<unknown, readonly string[]>> {
    const found = await given(world)
    const { one, two } = world.sessions
    const { runId } = found
    return {
      one: () => act({ ...found, one }),
      async two() {
        await world.operate(runId, two).pause()
        return runningIn(world, runId)
      },
      async check(acted, paused) {
        expect(acted.status, String((acted as PromiseRejectedResult).reason)).toBe('fulfilled')
        const before = new Set(answerOf(paused))
        const now = await runningIn(world, runId)
        expect(
          now.filter((item) => !before.has(item)),
          'begun after the pause',
        ).toEqual([])
        expect((await world.read(runId)).run.status).toBe('paused')
      },
      finally: () => expectCompleted(world, runId),
    }
  },
})

const besideResume = ({ name, given, act }: Act): Pair => ({
  name: `${name}/resume`,
  async given(world): Promise<Meeting<unknown, boolean>> {
    const found = await given(world)
    const { one, two } = world.sessions
    const { runId } = found
    await world.operate(runId, two).pause()
    return {
      one: () => act({ ...found, one }),
      two: () => world.operate(runId, two).resume(),
      async check(acted, resumed) {
        expect(acted.status, String((acted as PromiseRejectedResult).reason)).toBe('fulfilled')
        expect(answerOf(resumed)).toBe(true)
        expect((await world.read(runId)).run.status).toBe('running')
      },
      finally: () => expectCompleted(world, runId),
    }
  },
})

describe.each(servers)('pauses of runs with items in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  for (const act of ACTS) {
    itHolds('no item begins once the pause has returned', besidePause(act), () => world)
    itHolds('every item begins after the resumption', besideResume(act), () => world)
  }
})
