import type { Adapter } from '../../adapter/index.ts'
import {
  checkArgument,
  checkOptions,
  type OptionTable,
  readOptions,
  wholeNumber,
} from '../../options/index.ts'
import { checkSchedule, type ScheduleOptions, scheduleName } from './schedule-options.ts'
import { fireAt, nextTime } from './timing.ts'
import { lookAt } from './trigger.ts'

export interface PreviewOptions {
  /** How many times, 1 to 1,000. Default 10. */
  readonly count?: number | undefined
}

/** One of the next times of a schedule. */
export interface ScheduledTime {
  readonly scheduledAt: Date
  /** With its jitter. The jitter depends on the name, so it is left out for a schedule that has none yet. */
  readonly firesAt: Date
}

const OPTIONS = {
  count: { sets: 'how many times', takes: wholeNumber(1, 1_000), default: 10 },
} satisfies OptionTable

const CALL = 'schedules.preview()'

export async function preview(
  adapter: Adapter,
  schedule: string | Omit<ScheduleOptions, 'workflow' | 'input'>,
  options: PreviewOptions,
): Promise<readonly ScheduledTime[]> {
  const { count } = checkOptions(CALL, options, OPTIONS)
  const { name, spec, from } = await subjectOf(adapter, schedule)
  const times: ScheduledTime[] = []
  let at = nextTime(spec.timing, from, spec.until)
  while (at !== null && times.length < count) {
    times.push({ scheduledAt: new Date(at), firesAt: new Date(fireAt({ name, spec }, at)) })
    at = nextTime(spec.timing, at, spec.until)
  }
  return times
}

async function subjectOf(adapter: Adapter, schedule: string | Omit<ScheduleOptions, 'workflow' | 'input'>) {
  if (typeof schedule === 'string') {
    const given = checkArgument(CALL, 'the name', schedule, scheduleName)
    await adapter.open()
    const { schedule: stored, now } = await lookAt({ adapter }, CALL, given)
    const { name, spec, nextAt, pausedAt } = stored
    // A paused schedule goes on with the first time after it was resumed.
    const from = nextAt === null ? now : pausedAt === null ? nextAt - 1 : Math.max(nextAt - 1, now)
    return { name, spec, from }
  }
  const given = readOptions(schedule)
  const named = given === undefined ? schedule : { workflow: 'none', ...given }
  const { spec, timing } = checkSchedule(CALL, '', named, false)
  await adapter.open()
  const now = await adapter.now()
  const begun = 'cron' in timing ? timing : { ...timing, anchorAt: now }
  return { name: '', spec: { ...spec, timing: begun, jitterMs: 0 }, from: now }
}
