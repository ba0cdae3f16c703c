import type {
  ChangedSchedules,
  SavedDefinition,
  ScheduleChange,
  ScheduleRecord,
} from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { itHolds } from './expect-orders.ts'
import type { Meeting, Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

const NAME = 'hourly'
const HOUR_MS = 3_600_000

type Changed = ChangedSchedules<'fired' | 'changed' | 'left'>

/** A schedule whose first time has come. */
async function due(world: World): Promise<{ definition: SavedDefinition; schedule: ScheduleRecord }> {
  const definition = await world.definition('scheduled', { a: [] })
  const at = (await world.store.now()) - 1_000
  await world.store.changeSchedules({
    names: [NAME],
    decide: () => ({ change: writing(scheduleOf(definition, at)), answer: null }),
  })
  const { schedules } = await world.store.readSchedules({ names: [NAME], limit: 1 })
  return { definition, schedule: schedules[0]! }
}

function scheduleOf({ name: workflow }: SavedDefinition, at: number): ScheduleRecord {
  return {
    name: NAME,
    workflow,
    spec: {
      timing: { everyMs: HOUR_MS, anchorAt: at - HOUR_MS },
      ...{ version: null, overlap: 'skip', catchUp: 'last', jitterMs: 0, until: null, tags: [] },
      ...{ timeAs: null, declared: false },
    },
    ...{ input: null, pausedAt: null, pauseReason: null, nextAt: at, dueAt: at, revision: 0, firings: 0 },
    ...{ createdAt: at, updatedAt: at },
  }
}

const writing = (schedule: ScheduleRecord): ScheduleChange => ({
  schedule,
  firings: [],
  starts: [],
  cancels: [],
})

/** Fires the schedule as a worker does, that has read it before: only if nobody has changed it since. */
function fire(
  world: World,
  { adapter }: Session,
  parts: Awaited<ReturnType<typeof due>>,
): () => Promise<Changed> {
  const { definition, schedule: known } = parts
  const run = { ...world.newRun(definition), key: `schedule:${NAME}:${known.nextAt}` }
  return () =>
    adapter.changeSchedules({
      names: [NAME],
      skipLocked: true,
      decide: ({ schedule, now }) => {
        if (schedule?.revision !== known.revision) return { change: null, answer: 'left' }
        const nextAt = known.nextAt! + HOUR_MS
        const sequence = schedule.firings + 1
        return {
          change: {
            schedule: { ...schedule, nextAt, dueAt: nextAt, firings: sequence },
            firings: [
              firingOf({
                sequence,
                scheduledAt: known.nextAt!,
                decidedAt: now,
                cause: 'time',
                runId: run.runId,
              }),
            ],
            starts: [run],
            cancels: [],
          },
          answer: 'fired',
        }
      },
    })
}

/** As `trigger()`: waits for the schedule, and leaves its next time. */
function trigger(world: World, { adapter }: Session, { definition }: Awaited<ReturnType<typeof due>>) {
  const run = world.newRun(definition)
  return (): Promise<Changed> =>
    adapter.changeSchedules({
      names: [NAME],
      decide: ({ schedule, open, now }) => {
        if (schedule === null || open.length > 0) return { change: null, answer: 'left' }
        const sequence = schedule.firings + 1
        const firing = firingOf({
          sequence,
          scheduledAt: now,
          decidedAt: now,
          cause: 'trigger',
          runId: run.runId,
        })
        return {
          change: {
            schedule: { ...schedule, firings: sequence },
            firings: [firing],
            starts: [run],
            cancels: [],
          },
          answer: 'fired',
        }
      },
    })
}

function firingOf(firing: {
  readonly sequence: number
  readonly scheduledAt: number
  readonly decidedAt: number
  readonly cause: 'time' | 'trigger'
  readonly runId: string
}): ScheduleChange['firings'][number] {
  return { ...firing, untilAt: null, status: 'started', reason: null, isOpen: true }
}

const change =
  ({ adapter }: Session, changed: Partial<ScheduleRecord>) =>
  (): Promise<Changed> =>
    adapter.changeSchedules({
      names: [NAME],
      decide: ({ schedule }) => ({ change: writing({ ...schedule!, ...changed }), answer: 'changed' }),
    })

function answerOf(settled: PromiseSettledResult<Changed>): string {
  expect(settled).toMatchObject({ status: 'fulfilled' })
  return (settled as PromiseFulfilledResult<Changed>).value.answers[0]?.answer ?? 'left'
}

/** The rows agree: each firing has its run, each run its firing, and the schedule counts them. */
async function look(world: World) {
  const { schedules } = await world.store.readSchedules({ names: [NAME], limit: 1 })
  const firings = await world.store.readFirings({ name: NAME, limit: 100 })
  const runs = await world.sql<{ id: string; key: string | null }>('select id, key from belay.workflow_runs')
  expect(firings.map(({ runId }) => runId).sort()).toEqual(runs.map(({ id }) => id).sort())
  expect(schedules[0]!.firings).toBe(firings.length)
  return { schedule: schedules[0]!, firings }
}

const twice: Pair = {
  name: 'fire/fire',
  async given(world): Promise<Meeting<Changed, Changed>> {
    const parts = await due(world)
    const { one, two } = world.sessions
    return {
      one: fire(world, one, parts),
      two: fire(world, two, parts),
      async check(...told) {
        expect(told.map(answerOf).sort()).toEqual(['fired', 'left'])
        const { schedule, firings } = await look(world)
        expect(firings).toHaveLength(1)
        expect(schedule.nextAt).toBe(parts.schedule.nextAt! + HOUR_MS)
      },
    }
  },
}

const pausing: Pair = {
  name: 'fire/pause',
  async given(world): Promise<Meeting<Changed, Changed>> {
    const parts = await due(world)
    const { one, two } = world.sessions
    const pausedAt = parts.schedule.nextAt! + 500
    return {
      one: fire(world, one, parts),
      two: change(two, { pausedAt, pauseReason: 'holiday', dueAt: null }),
      async check(fired, paused) {
        expect(answerOf(paused)).toBe('changed')
        const { schedule, firings } = await look(world)
        const hasFired = answerOf(fired) === 'fired'
        expect(firings).toHaveLength(hasFired ? 1 : 0)
        expect(schedule).toMatchObject({
          pausedAt,
          dueAt: null,
          nextAt: parts.schedule.nextAt! + (hasFired ? HOUR_MS : 0),
        })
      },
    }
  },
}

const putting: Pair = {
  name: 'fire/put',
  async given(world): Promise<Meeting<Changed, Changed>> {
    const parts = await due(world)
    const { one, two } = world.sessions
    const { spec } = parts.schedule
    const nextAt = parts.schedule.nextAt! + 86_400_000
    const timing = { cron: '0 3 * * *', timeZone: 'UTC' }
    return {
      one: fire(world, one, parts),
      two: change(two, { spec: { ...spec, timing }, nextAt, dueAt: nextAt }),
      async check(fired, put) {
        expect(answerOf(put)).toBe('changed')
        const { schedule, firings } = await look(world)
        expect(firings).toHaveLength(answerOf(fired) === 'fired' ? 1 : 0)
        expect(schedule, 'what was put stays').toMatchObject({ spec: { timing }, nextAt, dueAt: nextAt })
      },
    }
  },
}

const triggering: Pair = {
  name: 'trigger/fire',
  async given(world): Promise<Meeting<Changed, Changed>> {
    const parts = await due(world)
    const { one, two } = world.sessions
    return {
      one: trigger(world, one, parts),
      two: fire(world, two, parts),
      async check(...told) {
        const fired = told.map(answerOf).filter((answer) => answer === 'fired')
        const { firings } = await look(world)
        expect(firings, 'one after the other, and none while the other is live').toHaveLength(1)
        expect(fired).toHaveLength(1)
      },
    }
  },
}

const deleting: Pair = {
  name: 'fire/delete',
  async given(world): Promise<Meeting<Changed, Changed>> {
    const parts = await due(world)
    const { one, two } = world.sessions
    return {
      one: fire(world, one, parts),
      two: () =>
        two.adapter.changeSchedules({
          names: [NAME],
          decide: () => ({
            change: { schedule: null, firings: [], starts: [], cancels: [] },
            answer: 'changed',
          }),
        }),
      async check(fired, deleted) {
        expect(answerOf(deleted)).toBe('changed')
        const { schedules } = await world.store.readSchedules({ names: [NAME], limit: 1 })
        expect(schedules).toEqual([])
        const runs = await world.sql('select id from belay.workflow_runs')
        expect(runs).toHaveLength(answerOf(fired) === 'fired' ? 1 : 0)
      },
    }
  },
}

describe.each(servers)('schedules in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url)
  })
  afterAll(() => world.close())

  itHolds('two workers fire one time once', twice, () => world)
  itHolds('a schedule that is paused has fired before, or does not', pausing, () => world)
  itHolds('a changed timing begins anew, whoever fired before', putting, () => world)
  itHolds('a trigger and a time know of each other', triggering, () => world)
  itHolds('a schedule that is deleted has fired before, or never does', deleting, () => world)
})
