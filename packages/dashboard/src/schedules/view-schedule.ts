import type { Engine, ScheduleSnapshot } from '@belay/workflow'
import type { ListedSchedule, Schedule } from '../api/schedules.ts'
import type { Served } from '../served.ts'
import type { Texts } from '../view/texts.ts'
import { viewFiring } from './view-firing.ts'

export interface Calendar {
  readonly from: number
  readonly until: number
}

const KEPT = 100
/** What most schedules have in two days; and what the calendar draws of others: each time takes half a millisecond to find. */
const TIMES_FIRST = 10
const TIMES_MAX = 60
/** Its row tells whether it has fired or was changed: until then its times stay. A firing that waits may begin without it. */
const TIMES_FRESH_MS = 300_000
const FIRINGS_FRESH_MS = 10_000

export function viewSchedule(schedule: ScheduleSnapshot): Schedule {
  const { name, workflow, version, cron, timeZone, everyMs, status, declared, pauseReason } = schedule
  return {
    ...{ name, workflow, version, cron, timeZone, everyMs, status, declared, pauseReason },
    nextAt: schedule.nextAt?.getTime(),
    pausedAt: schedule.pausedAt?.getTime(),
  }
}

export async function listedSchedule(
  served: Served,
  schedule: ScheduleSnapshot,
  calendar: Calendar,
  texts: Texts,
): Promise<ListedSchedule> {
  const { engine, shared } = served
  const { name, updatedAt, nextAt, firings, status } = schedule
  const state = JSON.stringify([name, updatedAt, nextAt, status])
  const [kept, times] = await Promise.all([
    shared.read(
      `firings ${firings} ${state}`,
      () => engine.schedules.history(name, { limit: KEPT }),
      FIRINGS_FRESH_MS,
    ),
    shared.read(`times ${state}`, () => timesOf(engine, schedule, calendar), TIMES_FRESH_MS),
  ])
  const shown = kept.map((firing) => viewFiring(firing, texts))
  const oldest = shown.at(-1)
  return {
    ...viewSchedule(schedule),
    newest: shown[0],
    past: shown.filter(({ at, untilAt = at }) => untilAt >= calendar.from),
    pastFrom: shown.length === KEPT && oldest!.at > calendar.from ? oldest!.at : undefined,
    ...times,
  }
}

async function timesOf(
  { schedules }: Engine,
  { name, status, nextAt }: ScheduleSnapshot,
  { until }: Calendar,
): Promise<Pick<ListedSchedule, 'ahead' | 'aheadUntil'>> {
  if (status === 'ended' || (nextAt !== undefined && nextAt.getTime() > until)) return { ahead: [] }
  const read = async (count: number) =>
    (await schedules.preview(name, { count })).map(({ firesAt }) => firesAt.getTime())
  const isCut = (times: readonly number[], count: number) => times.length === count && times.at(-1)! < until
  const first = await read(TIMES_FIRST)
  const times = isCut(first, TIMES_FIRST) ? await read(TIMES_MAX) : first
  return {
    ahead: times.filter((at) => at <= until),
    aheadUntil: isCut(times, TIMES_MAX) ? times.at(-1) : undefined,
  }
}
