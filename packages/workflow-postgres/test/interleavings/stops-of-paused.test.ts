import type { Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import { World } from './world.ts'

function answerOf<Value>(told: PromiseSettledResult<Value>): Value {
  return told.status === 'fulfilled' ? told.value : expect.fail(String(told.reason))
}

/** A run whose first step is in flight, and whose deadline has passed. */
async function givenOverdue(world: World) {
  const definition = await world.definition('overdue', { a: [], b: [], c: ['a', 'b'] })
  const runId = await world.start(definition)
  await world.sql(
    `update belay.workflow_runs set deadline_at = belay.store_now() - interval '1 second' where id = $1`,
    [runId],
  )
  return { definition, runId }
}

const expireAnd = (name: 'pause' | 'resume' | 'cancel'): Pair => ({
  name: `expire/${name}`,
  async given(world): Promise<Meeting<readonly unknown[], boolean>> {
    const { runId } = await givenOverdue(world)
    const { one, two } = world.sessions
    if (name !== 'pause') await world.operate(runId, two).pause()
    return {
      one: () => one.adapter.expireRuns({ limit: 10 }),
      two: () => world.operate(runId, two)[name](),
      async check(expired, told) {
        expect(answerOf(told)).toBe(true)
        const { run, steps } = await world.read(runId)
        // A run with a locked row is left for a later look.
        const isStopped = answerOf(expired).length > 0 || name === 'cancel'
        const going = name === 'pause' ? 'paused' : isStopped ? 'compensating' : 'running'
        expect([run.status, run.cause !== null]).toEqual([going, isStopped])
        if (isStopped) expect(steps.every(({ status }) => status === 'cancelled')).toBe(true)
      },
    }
  },
})

const failAnd = (name: 'resume' | 'cancel'): Pair => ({
  name: `fail/${name} of a paused run`,
  async given(world): Promise<Meeting<Settlement, boolean>> {
    const definition = await world.definition('failing', { a: [], b: [], c: ['a', 'b'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const [a, b] = await world.claim(definition, one.workerId)
    await world.operate(runId, two).pause()
    const { workerId } = one
    await world.settle([completed(b!)], workerId)
    return {
      one: () => one.adapter.settle({ workerId, outcomes: [failed(a!)], handBackMax: 0 }),
      two: () => world.operate(runId, two)[name](),
      async check(settled, told) {
        expect(answerOf(settled).results).toEqual(['settled'])
        expect(answerOf(told)).toBe(true)
        expect((await world.read(runId)).run.status).toBe('compensating')
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect(run.status).toBe(name === 'cancel' ? 'cancelled' : 'compensated')
        expect(steps.map(({ status }) => status)).toEqual(['failed', 'compensated', 'cancelled'])
      },
    }
  },
})

const cancelAndPause: Pair = {
  name: 'cancel/pause',
  async given(world): Promise<Meeting<boolean, boolean>> {
    const definition = await world.definition('cancelled', { a: [], b: ['a'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    await world.settle((await world.claim(definition)).map(completed))
    return {
      one: () => world.operate(runId, one).cancel(),
      two: () => world.operate(runId, two).pause(),
      async check(cancelled, paused) {
        expect([answerOf(cancelled), answerOf(paused)]).toEqual([true, true])
        const { run, steps } = await world.read(runId)
        // If the cancellation comes last, it ends the pause. If the pause comes last, it keeps the undo from beginning.
        expect(['paused', 'compensating']).toContain(run.status)
        expect(run.cause).toMatch(/cancelled/)
        expect(steps.map(({ status }) => status)).toEqual(['completed', 'cancelled'])
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect([run.status, steps[0]!.status]).toEqual(['cancelled', 'compensated'])
      },
    }
  },
}

describe.each(servers)('stops of a paused run in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('the run stays paused', expireAnd('pause'), () => world)
  itHolds('the run is undone, or goes on until the next look', expireAnd('resume'), () => world)
  itHolds('the run is undone', expireAnd('cancel'), () => world)
  itHolds('the run is undone', failAnd('resume'), () => world)
  itHolds('the run is cancelled', failAnd('cancel'), () => world)
  itHolds('the run is cancelled, and paused or not', cancelAndPause, () => world)
})
