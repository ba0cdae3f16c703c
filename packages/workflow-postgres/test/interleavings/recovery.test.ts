import type { Claimed, Settlement, StartedRun } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const EDGES = { a: [], b: ['a'] }

type Swept = Awaited<ReturnType<World['store']['sweep']>>

const sweep = ({ adapter }: Session): Promise<Swept> => adapter.sweep({ limit: 100 })

/** Every worker that holds a step is registered: the sweep would never take a step from an unregistered one. */
async function expectNothingOrphaned(world: World): Promise<void> {
  const orphaned = await world.sql(
    `select s.run_id, s.step, s.worker_id from belay.workflow_steps s
     where s.status in ('running', 'compensating') and s.worker_id is not null
       and not exists (select from belay.workflow_workers w where w.id = s.worker_id)`,
  )
  expect(orphaned, 'steps leased to unregistered workers').toEqual([])
}

const sweepAndSettle: Pair = {
  name: 'sweep/settle',
  async given(world): Promise<Meeting<Swept, Settlement>> {
    const definition = await world.definition('swept', EDGES)
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    const outcomes = (await world.claim(definition, two.workerId)).map(completed)
    await world.expire(two)
    return {
      one: () => sweep(one),
      two: () => two.adapter.settle({ workerId: two.workerId, outcomes, handBackMax: 10 }),
      async check(swept, settlement) {
        expect([swept.status, settlement.status]).toEqual(['fulfilled', 'fulfilled'])
        const { recovered } = (swept as PromiseFulfilledResult<Swept>).value
        const { results } = (settlement as PromiseFulfilledResult<Settlement>).value
        const { steps } = await world.read(runId)
        if (results[0] === 'settled') expect(steps[0]).toMatchObject({ status: 'completed', losses: 0 })
        else expect(steps[0]).toMatchObject({ status: 'ready', losses: 1, output: null })
        const taken = recovered.filter(({ step }) => step === 0).length
        expect(taken, 'recovered if not settled').toBe(results[0] === 'settled' ? 0 : 1)
        await expectNothingOrphaned(world)
      },
      async finally() {
        const { run, steps } = await world.read(runId)
        expect([run.status, steps[0]!.output]).toEqual(['completed', '"done"'])
      },
    }
  },
}

const sweepAndClaim: Pair = {
  name: 'sweep/claim',
  async given(world): Promise<Meeting<Swept, Claimed | 'lost'>> {
    const definition = await world.definition('claimed', EDGES)
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    await world.expire(two)
    return {
      one: () => sweep(one),
      two: () => two.adapter.claim({ workerId: two.workerId, definitionIds: [definition.id], limit: 10 }),
      async check(swept, claimed) {
        expect([swept.status, claimed.status]).toEqual(['fulfilled', 'fulfilled'])
        const { lostWorkers, recovered } = (swept as PromiseFulfilledResult<Swept>).value
        const { value } = claimed as PromiseFulfilledResult<Claimed | 'lost'>
        if (value === 'lost') expect(lostWorkers).toEqual([two.workerId])
        const { steps } = await world.read(runId)
        const holds = value !== 'lost' && recovered.length === 0
        expect(steps[0]).toMatchObject({
          status: holds ? 'running' : 'ready',
          workerId: holds ? two.workerId : null,
        })
        await expectNothingOrphaned(world)
      },
      async finally() {
        expect((await world.read(runId)).run.status).toBe('completed')
      },
    }
  },
}

const startAndSweep: Pair = {
  name: 'start/sweep',
  async given(world): Promise<Meeting<readonly StartedRun[], Swept>> {
    const definition = await world.definition('started', { a: [], b: [], c: ['a', 'b'] })
    const { one, two } = world.sessions
    await world.expire(one)
    const run = world.newRun(definition)
    const lease = { workerId: one.workerId, handBackMax: 10 }
    return {
      one: () => one.adapter.startRuns([run], { lease }),
      two: () => sweep(two),
      async check(started, swept) {
        expect([started.status, swept.status]).toEqual(['fulfilled', 'fulfilled'])
        const [{ created, claims = [] }] = (started as PromiseFulfilledResult<[StartedRun]>).value
        const { recovered } = (swept as PromiseFulfilledResult<Swept>).value
        expect(created).toBe(true)
        expect([0, 2], 'all roots of a run are leased, or none').toContain(claims.length)
        const { steps } = await world.read(run.runId)
        const holds = claims.length > 0 && recovered.length === 0
        expect(steps.map(({ status }) => status)).toEqual(
          holds ? ['running', 'running', 'pending'] : ['ready', 'ready', 'pending'],
        )
        await expectNothingOrphaned(world)
      },
      async finally() {
        expect((await world.read(run.runId)).run.status).toBe('completed')
      },
    }
  },
}

const LATER = Date.UTC(2100, 0, 1)

const pruneAndReopen: Pair = {
  name: 'prune/reopen',
  async given(world): Promise<Meeting<readonly string[], unknown>> {
    const definition = await world.definition('ended', { a: [], b: ['a'], c: ['b'] })
    const runId = await world.start(definition)
    const { one, two } = world.sessions
    await world.settle((await world.claim(definition)).map(completed))
    await world.settle((await world.claim(definition)).map(failed))
    await world.store.deliverSignals([world.signal(definition, runId, 2)])
    await world.store.beginUndo([
      { ...world.planUndo(await world.drained(runId)), endsAs: 'failed', undos: [] },
    ])
    let pruned = false
    return {
      one: () => one.adapter.prune({ runIds: [runId], finishedBefore: LATER }),
      two: () => world.operate(runId, two).retry(),
      async check(told, retried) {
        expect(told.status).toBe('fulfilled')
        const { value } = told as PromiseFulfilledResult<readonly string[]>
        pruned = value.includes(runId)
        if (pruned) expect(retried, 'a retry of a pruned run').toMatchObject({ status: 'rejected' })
        else expect(retried, 'a retry of an existing run').toMatchObject({ status: 'fulfilled' })
        if (retried.status === 'rejected') expect(retried.reason).toMatchObject({ code: 'unknown_run' })
        for (const table of ['runs', 'steps', 'signals', 'history', 'ready']) {
          const id = table === 'runs' ? 'id' : 'run_id'
          const rows = await world.sql(`select 1 from belay.workflow_${table} where ${id} = $1`, [runId])
          if (pruned && table !== 'ready') expect(rows, `rows in ${table} of a pruned run`).toEqual([])
          if (!pruned && table === 'steps') expect(rows).toHaveLength(3)
        }
      },
      async finally() {
        if (!pruned) expect((await world.read(runId)).run.status).toBe('completed')
      },
    }
  },
}

describe.each(servers)('recovery and pruning in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds(
    'a late settlement counts, or the step is returned to the queue: not both',
    sweepAndSettle,
    () => world,
  )
  itHolds('a worker that is declared dead holds nothing', sweepAndClaim, () => world)
  itHolds('a run that a dead worker starts is left to the queue', startAndSweep, () => world)
  itHolds('a run is deleted entirely, or it goes forward', pruneAndReopen, () => world)
})
