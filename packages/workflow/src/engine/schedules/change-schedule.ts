import { dequal } from 'dequal'
import type { FoundSchedule, JsonText, ScheduleChange, ScheduleRecord, Timing } from '../../adapter/index.ts'
import type { CheckedSchedule } from './schedule-options.ts'
import { fireAt, nextTime } from './timing.ts'

/** Why a schedule is paused that code no longer declares. */
export const UNDECLARED = 'It is no longer declared in the code that ran last.'
/** How soon a worker looks at firings that wait. */
const LOOK_SOON_MS = 1_000

/** A checked schedule as it is to be stored. */
export interface WantedSchedule extends Pick<CheckedSchedule, 'name' | 'spec' | 'timing'> {
  readonly workflow: string
  readonly input: JsonText
}

/** Null if the stored schedule is as wanted. Its next time stays, unless its timing changes. */
export function putChange(found: FoundSchedule, wanted: WantedSchedule): ScheduleChange | null {
  const { schedule, now } = found
  const timing = timingOf(wanted.timing, schedule?.spec.timing, now)
  const spec = { ...wanted.spec, timing }
  const { name, workflow, input } = wanted
  const returns = spec.declared && schedule?.pauseReason === UNDECLARED
  const isSame =
    schedule !== null &&
    schedule.workflow === workflow &&
    schedule.input === input &&
    dequal(schedule.spec, spec)
  if (isSame && !returns) return null
  const keepsNext = schedule !== null && schedule.nextAt !== null && dequal(schedule.spec.timing, timing)
  // No time is later than the change that dealt with it, and after a clock was set back none of them comes again.
  const anew = Math.max(now, schedule?.updatedAt ?? now)
  const from = returns || !keepsNext ? anew : schedule.nextAt - 1
  const nextAt = nextTime(timing, from, spec.until)
  const before = schedule ?? { firings: 0, revision: 0, createdAt: now, pausedAt: null, pauseReason: null }
  const paused = returns ? { pausedAt: null, pauseReason: null } : {}
  return writing(found, {
    ...before,
    ...{ name, workflow, spec, input, updatedAt: now, nextAt, dueAt: null },
    ...paused,
  })
}

/** An `every` keeps the instant from which it counts. */
function timingOf(wanted: Timing, stored: Timing | undefined, now: number): Timing {
  if ('cron' in wanted) return wanted
  const isSame = stored !== undefined && 'everyMs' in stored && stored.everyMs === wanted.everyMs
  return { everyMs: wanted.everyMs, anchorAt: isSame ? stored.anchorAt : now }
}

export function pauseChange(found: FoundSchedule, reason: string | null): ScheduleChange | null {
  const { schedule, now } = found
  if (schedule === null || schedule.pausedAt !== null) return null
  return writing(found, { ...schedule, pausedAt: now, pauseReason: reason })
}

/** Times that passed during the pause do not fire. */
export function resumeChange(found: FoundSchedule): ScheduleChange | null {
  const { schedule, now } = found
  if (schedule === null || schedule.pausedAt === null) return null
  const { spec, nextAt } = schedule
  const next = nextAt === null || nextAt > now ? nextAt : nextTime(spec.timing, now, spec.until)
  return writing(found, { ...schedule, pausedAt: null, pauseReason: null, nextAt: next })
}

/** The change to a row, with the time at which a worker must look at it. */
function writing({ open, now }: FoundSchedule, schedule: ScheduleRecord): ScheduleChange {
  const timed = schedule.nextAt === null ? null : fireAt(schedule, schedule.nextAt)
  const waits = open.some(({ status }) => status === 'queued')
  const soon = waits ? Math.min(timed ?? Number.POSITIVE_INFINITY, now + LOOK_SOON_MS) : timed
  const dueAt = schedule.pausedAt === null ? soon : null
  return { schedule: { ...schedule, dueAt }, firings: [], starts: [], cancels: [] }
}
