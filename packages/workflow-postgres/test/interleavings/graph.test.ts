import type { NewRun, Settlement, StartedRun } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

/** The answer that a caller got. */
function answer<Answer>(told: PromiseSettledResult<Answer>): Answer {
  expect(told).toMatchObject({ status: 'fulfilled' })
  return (told as PromiseFulfilledResult<Answer>).value
}

/** A run of a, b → c. Session one holds a, session two holds b. */
async function givenTwoParents(world: World) {
  const definition = await world.definition('parents', { a: [], b: [], c: ['a', 'b'] })
  const runId = await world.start(definition)
  const { one, two } = world.sessions
  const claimOne = async ({ workerId }: Session) => {
    const claimed = await world.store.claim({ workerId, definitionIds: [definition.id], limit: 1 })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims[0]!
  }
  return { definition, runId, a: await claimOne(one), b: await claimOne(two) }
}

const settleAndSettle = (handBackMax: number): Pair => ({
  name: `settle/settle ${handBackMax === 0 ? 'queued' : 'handed back'}`,
  async given(world): Promise<Meeting<Settlement, Settlement>> {
    const { runId, a, b } = await givenTwoParents(world)
    const { one, two } = world.sessions
    const settle = ({ adapter, workerId }: Session, claim: typeof a) =>
      adapter.settle({ workerId, outcomes: [completed(claim)], handBackMax })
    return {
      one: () => settle(one, a),
      two: () => settle(two, b),
      async check(first, second) {
        const settlements = [answer(first), answer(second)]
        for (const { results } of settlements) expect(results).toEqual(['settled'])
        const claims = settlements.flatMap((settlement) => settlement.claims)
        expect(claims, 'handed back once').toHaveLength(handBackMax)
        const { status, fence } = await world.step(runId, 'c')
        expect([status, fence]).toEqual(handBackMax === 0 ? ['ready', 0] : ['running', 1])
      },
    }
  },
})

const settleAndFail: Pair = {
  name: 'settle/fail',
  async given(world): Promise<Meeting<Settlement, Settlement>> {
    const definition = await world.definition('siblings', { a: [], b: [], after: ['a'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const [a, b] = await world.claim(definition, one.workerId)
    await world.settle([{ ...b!, type: 'released' }], one.workerId)
    const [again] = await world.claim(definition, two.workerId)
    return {
      one: () => one.adapter.settle({ workerId: one.workerId, outcomes: [completed(a!)], handBackMax: 10 }),
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes: [failed(again!)], handBackMax: 0 }),
      async check(settled, failing) {
        const { results, claims } = answer(settled)
        expect([...results, ...answer(failing).results]).toEqual(['settled', 'settled'])
        const { run, steps } = await world.read(runId)
        expect(run.status).toBe('compensating')
        const [first, , after] = steps
        expect(first!.status).toBe('completed')
        // In flight with the caller that got it, or it never begins.
        if (claims.length > 0) expect(after).toMatchObject({ status: 'running', workerId: one.workerId })
        else expect(['cancelled', 'ready']).toContain(after!.status)
        const claimed = await world.claim(definition)
        expect(claimed, 'claimed from a run that is stopping').toEqual([])
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect([run.status, steps[0]!.status]).toEqual(['compensated', 'compensated'])
      },
    }
  },
}

const drainAndSettle: Pair = {
  name: 'begin-undo/settle',
  async given(world): Promise<Meeting<number, Settlement>> {
    const { definition, runId, a, b } = await givenTwoParents(world)
    const { one, two } = world.sessions
    await world.settle([failed(a)], one.workerId)
    return {
      async one() {
        const { adapter, workerId } = one
        const drained = await adapter.drain({ definitionIds: [definition.id], limit: 10 })
        const plans = drained.map((run) => world.planUndo(run))
        return (await adapter.beginUndo(plans, { workerId, handBackMax: 10 })).length
      },
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes: [completed(b)], handBackMax: 10 }),
      async check(begun, settlement) {
        const { results, claims } = answer(settlement)
        expect([results, claims]).toEqual([['settled'], []])
        const isBegun = answer(begun) > 0
        expect((await world.step(runId, 'b')).status).toBe(isBegun ? 'compensating' : 'completed')
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect([run.status, steps[1]!.status], 'a late success is undone').toEqual([
          'compensated',
          'compensated',
        ])
      },
    }
  },
}

const startAndStart: Pair = {
  name: 'start/start',
  async given(world): Promise<Meeting<readonly StartedRun[], readonly StartedRun[]>> {
    const definition = await world.definition('keyed', { a: [] })
    const { one, two } = world.sessions
    const keyed = (): NewRun => ({ ...world.newRun(definition), key: 'same' })
    const [first, second] = [keyed(), keyed()]
    const start = ({ adapter, workerId }: Session, run: NewRun) =>
      adapter.startRuns([run], { lease: { workerId, handBackMax: 10 } })
    return {
      one: () => start(one, first),
      two: () => start(two, second),
      async check(mine, theirs) {
        const started = [...answer(mine), ...answer(theirs)]
        expect(started.map(({ created }) => created).sort(), 'made once').toEqual([false, true])
        expect(new Set(started.map(({ runId }) => runId)).size, 'both got the same run').toBe(1)
        expect(await world.sql('select id from belay.workflow_runs')).toHaveLength(1)
        expect(started.flatMap(({ claims = [] }) => claims)).toHaveLength(1)
      },
    }
  },
}

const startAndPrune: Pair = {
  name: 'start/prune',
  async given(world): Promise<Meeting<readonly StartedRun[], readonly string[]>> {
    const definition = await world.definition('pruned', { a: [] })
    const { one, two } = world.sessions
    const [ended, anew] = [world.newRun(definition), world.newRun(definition)]
    await world.store.startRuns([{ ...ended, key: 'same' }])
    await world.settle((await world.claim(definition)).map(completed))
    return {
      one: () => one.adapter.startRuns([{ ...anew, key: 'same' }]),
      two: () => two.adapter.prune({ runIds: [ended.runId], finishedBefore: Date.UTC(2100, 0, 1) }),
      async check(started, pruned) {
        const [run] = answer(started)
        expect(answer(pruned)).toEqual([ended.runId])
        expect(run!.runId).toBe(run!.created ? anew.runId : ended.runId)
        const rows = await world.sql<{ id: string }>('select id from belay.workflow_runs')
        expect(rows.map(({ id }) => id)).toEqual(run!.created ? [anew.runId] : [])
      },
    }
  },
}

describe.each(servers)('graphs and starts in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('a step becomes ready once when both of its parents settle', settleAndSettle(0), () => world)
  itHolds('a step is handed back once when both of its parents settle', settleAndSettle(1), () => world)
  itHolds('a completion beside a failure is undone, and nothing new begins', settleAndFail, () => world)
  itHolds('an undo begins when nothing is in flight', drainAndSettle, () => world)
  itHolds('one key makes one run', startAndStart, () => world)
  itHolds('a key is taken or free, as its caller is told', startAndPrune, () => world)
})
