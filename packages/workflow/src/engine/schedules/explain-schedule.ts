import { holdsLease } from '../../adapter/holds-lease.ts'
import type { Adapter } from '../../adapter/index.ts'
import { durationText } from '../../duration.ts'
import { counted } from '../../words.ts'
import { CAUGHT_UP_MAX, isLive, QUEUED_MAX } from './plan-firing.ts'
import { unknownSchedule } from './schedule-parts.ts'
import { fireAt } from './timing.ts'

/** What a schedule does next. */
export interface ScheduleExplanation {
  readonly name: string
  /** One sentence, or two. */
  readonly summary: string
  /** Its runs that have not ended, as far as a worker has not yet seen their end. */
  readonly liveRuns: readonly string[]
  /** Each firing that waits, with the reason, in the order in which they start. Up to 100. */
  readonly waiting: readonly { readonly scheduledAt: Date; readonly reason: string }[]
}

export async function explainSchedule(adapter: Adapter, name: string): Promise<ScheduleExplanation> {
  const { answers } = await adapter.changeSchedules({
    names: [name],
    decide: (found) => ({ change: null, answer: found }),
  })
  const { schedule, open, now } = answers[0]!.answer
  if (schedule === null) throw unknownSchedule('schedules.explain()', name)
  const liveRuns = open.flatMap(({ runId, runStatus }) => (isLive(runStatus) ? [runId!] : []))
  const queued = open.filter(({ status }) => status === 'queued').slice(0, QUEUED_MAX)
  const waiting = queued.map(({ scheduledAt }, place) => ({
    scheduledAt: new Date(scheduledAt),
    reason: reasonOf({ place, liveRuns, isPaused: schedule.pausedAt !== null }),
  }))
  const hasWorker = (await adapter.listWorkers()).some((worker) => holdsLease(worker, now))
  return {
    name,
    summary: summaryOf({ ...schedule, now, waiting: waiting.length, hasWorker }),
    ...{ liveRuns, waiting },
  }
}

function reasonOf({
  place,
  liveRuns,
  isPaused,
}: {
  readonly place: number
  readonly liveRuns: readonly string[]
  readonly isPaused: boolean
}): string {
  if (isPaused) return 'It waits until the schedule is resumed.'
  if (liveRuns.length === 0)
    return 'Nothing of the schedule runs any more: it starts at the next look of a worker.'
  const first = `It waits until run ${liveRuns[0]} ends: see the explanation of that run.`
  return place === 0
    ? first
    : `It waits for ${counted(place, 'firing')} before it, and for run ${liveRuns[0]} to end.`
}

function summaryOf(schedule: {
  readonly name: string
  readonly spec: Parameters<typeof fireAt>[0]['spec']
  readonly pausedAt: number | null
  readonly pauseReason: string | null
  readonly nextAt: number | null
  readonly now: number
  readonly waiting: number
  readonly hasWorker: boolean
}): string {
  const { pausedAt, pauseReason, nextAt, now, waiting, hasWorker } = schedule
  const waits =
    waiting === 0
      ? ''
      : ` ${counted(waiting, 'firing')} ${waiting === 1 ? 'waits' : 'wait'} for an earlier run.`
  if (pausedAt !== null)
    return `It has been paused since ${new Date(pausedAt).toISOString()}${pauseReason === null ? '' : ` (${pauseReason})`}. It goes on once it is resumed.${waits}`
  if (nextAt === null) return `It has ended: its until has passed.${waits}`
  const at = fireAt(schedule, nextAt)
  const lateMs = now - at
  const nobody = hasWorker ? '' : ' No worker is live: start one.'
  if (lateMs <= 0) return `It fires next at ${new Date(at).toISOString()}.${waits}${nobody}`
  const all = `up to ${CAUGHT_UP_MAX} times`
  return `It was due at ${new Date(at).toISOString()}, ${durationText(lateMs)} ago. A worker has to run for it to fire; it then catches up with ${schedule.spec.catchUp === 'all' ? all : schedule.spec.catchUp === 'last' ? 'the last time' : 'none, if it is more than a minute late'}.${waits}`
}
