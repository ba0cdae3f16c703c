import type { NewRun, StartedRun, StoreContendedError } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import { World } from './world.ts'

/** A run whose step `asks` is held by session one, which is about to start a child. */
async function givenAsking(world: World) {
  const definition = await world.definition('parent', { asks: [], after: ['asks'] })
  const runId = await world.start(definition)
  await world.store.declareLimits([{ name: 'children', concurrency: 1_000 }])
  const [claim] = await world.claim(definition, world.sessions.one.workerId)
  const child = world.newRun(await world.definition('child', { only: [] }))
  const started: NewRun = { ...child, parent: { runId, step: claim!.step }, parentFence: claim!.fence }
  return { definition, runId, claim: claim!, child: started }
}

type Given = Awaited<ReturnType<typeof givenAsking>>

/** A start of a child, and what takes the step from its attempt. `limits`: the child takes a slot as well. */
function pairOf(
  name: string,
  limits: NewRun['limits'],
  takes: (world: World, given: Given) => Promise<unknown>,
): Pair {
  return {
    name,
    async given(world): Promise<Meeting<readonly StartedRun[], unknown>> {
      const given = await givenAsking(world)
      return {
        one: () => world.sessions.one.adapter.startRuns([{ ...given.child, limits }]),
        two: () => takes(world, given),
        async check(start) {
          const created = start.status === 'fulfilled' && start.value[0]!.created
          if (start.status === 'rejected')
            expect((start.reason as StoreContendedError).code).toBe('store_contended')
          else if (!created) expect(start.value).toMatchObject([{ lost: true }])
          const children = await world.store.listRuns({ parentId: given.runId, limit: 10 })
          expect(children.map(({ runId }) => runId)).toEqual(created ? [given.child.runId] : [])
          if (limits === undefined) return
          expect(await world.store.readLimits([limits[0]!.limit])).toMatchObject([{ inUse: created ? 1 : 0 }])
        },
        async finally() {
          // Whoever has taken the step has taken it by now.
          const { workerId } = world.sessions.one
          const outcome = { ...given.claim, type: 'completed', output: '1' } as const
          await world.store.settle({ workerId, outcomes: [outcome], handBackMax: 0 })
          const late = {
            ...given.child,
            runId: world.newRun(given.definition).runId,
            key: `late ${given.runId}`,
          }
          expect(await world.store.startRuns([late])).toMatchObject([{ lost: true }])
        },
      }
    },
  }
}

const LIMITED = [{ limit: 'children', key: '', concurrency: 1_000 }]

const sweep = async (world: World): Promise<unknown> => {
  await world.expire(world.sessions.one)
  return world.sessions.two.adapter.sweep({ limit: 100 })
}

const settle = (world: World, { claim }: Given): Promise<unknown> =>
  world.sessions.two.adapter.settle({
    workerId: world.sessions.one.workerId,
    outcomes: [{ ...claim, type: 'completed', output: '1' }],
    handBackMax: 0,
  })

const PAIRS: readonly Pair[] = [
  pairOf('start a child/sweep its step', undefined, sweep),
  pairOf('start a child/settle its step', undefined, settle),
  pairOf('start a limited child/settle its step', LIMITED, settle),
  pairOf('start a child/cancel its parent', undefined, (world, { runId }) =>
    world.operate(runId, world.sessions.two).cancel({ compensate: false }),
  ),
]

describe.each(servers)('the start of a child, and another caller, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  for (const pair of PAIRS)
    itHolds('the child is started by an attempt that holds its step, or not at all', pair, () => world)
})
