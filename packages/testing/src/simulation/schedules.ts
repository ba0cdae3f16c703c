import type { Engine, ScheduleOptions } from '@belay/workflow'
import { FLOW } from './flow.ts'
import type { Operation } from './operator.ts'
import type { Random } from './random.ts'

type Schedule = Omit<ScheduleOptions, 'workflow'>

/** The schedules of a world: one for each `overlap`. */
export const SCHEDULES = {
  all: { every: '4s', overlap: 'allow', catchUp: 'all' },
  skipped: { cron: '*/3 * * * * *', overlap: 'skip', catchUp: 'last' },
  queued: { every: '7s', overlap: 'queue', catchUp: 'all', jitter: '1s' },
  replaced: { cron: '*/10 * * * * *', overlap: 'cancel-running', catchUp: 'none' },
} satisfies Readonly<Record<string, Schedule>>

const NAMES = Object.keys(SCHEDULES) as readonly (keyof typeof SCHEDULES)[]

/** Why operators pause schedules at the end of a world. */
export const AT_REST = 'The world comes to rest.'

/** Puts a schedule: the first time it begins, then it stays as it is, but for those of which nobody counts the times. */
function putSchedule(name: keyof typeof SCHEDULES, random?: Random): Operation {
  const changes = name === 'skipped' && random?.chance(0.5) === true ? { cron: '*/5 * * * * *' } : {}
  const schedule: Schedule = { ...SCHEDULES[name], ...changes }
  return {
    name: 'put a schedule',
    act: ({ engine }) => engine.schedules.put(name, { ...schedule, workflow: FLOW }),
  }
}

/** Those that are not there yet are put again: an answer may have been lost, or the call. */
export function putMissing(known: ReadonlySet<string>): readonly (readonly [name: string, put: Operation])[] {
  return NAMES.filter((name) => !known.has(name)).map((name) => [name, putSchedule(name)])
}

/** What an operator does to schedules. That of which every time counts is never paused. */
export function scheduleOperation(random: Random): Operation {
  const name = random.pick(NAMES)
  const other = random.pick(['skipped', 'queued', 'replaced'] as const)
  return random.pick<Operation>([
    putSchedule(name, random),
    { name: 'trigger a schedule', act: ({ engine }) => engine.schedules.trigger(name) },
    { name: 'pause a schedule', act: ({ engine }) => engine.schedules.pause(other) },
    { name: 'resume a schedule', act: ({ engine }) => engine.schedules.resume(other) },
    { name: 'read schedules', act: ({ engine }) => readAll(engine) },
  ])
}

async function readAll({ schedules }: Engine): Promise<void> {
  for (const { name } of await schedules.list()) {
    await schedules.history(name)
    await schedules.explain(name)
    await schedules.preview(name)
  }
}

/** Runs of the schedules would go on for ever. */
export function pauseAll(): Operation {
  return {
    name: 'pause all schedules',
    async act({ engine }) {
      for (const { name, pausedAt } of await engine.schedules.list())
        if (pausedAt === undefined) await engine.schedules.pause(name, { reason: AT_REST })
    },
  }
}
