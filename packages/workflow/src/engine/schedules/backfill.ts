import type { ScheduleRecord, StartedRun } from '../../adapter/index.ts'
import { BelayError, StoreContendedError } from '../../errors.ts'
import type { Instant } from '../../instant.ts'
import { checkOptions, instant, type OptionTable, yesOrNo } from '../../options/index.ts'
import { type PreparedFiring, planFirings } from './plan-firing.ts'
import { RunPreparer } from './prepare-runs.ts'
import type { SchedulesParts } from './schedule-parts.ts'
import { timesFrom } from './timing.ts'
import { lookAt } from './trigger.ts'

export interface BackfillOptions {
  readonly from: Instant
  /** At most now. */
  readonly to: Instant
  /** True only tells the times. Default false. */
  readonly dryRun?: boolean | undefined
}

export interface BackfillReport {
  /** The times from `from` to `to`, ascending. */
  readonly times: readonly Date[]
  /** A run for each time; empty in a dry run. `created` is false if that time had fired already. */
  readonly runs: readonly { readonly scheduledAt: Date; readonly runId: string; readonly created: boolean }[]
}

const OPTIONS = {
  from: { sets: 'the first time', takes: instant, required: true },
  to: { sets: 'the last time', takes: instant, required: true },
  dryRun: { sets: 'whether it only tells the times', takes: yesOrNo, default: false },
} satisfies OptionTable

const CALL = 'schedules.backfill()'
/** The most times of one call, and of one transaction. */
const TIMES_MAX = 1_000
const BATCH_MAX = 100
const TRIES_MAX = 5

export async function backfill(
  parts: SchedulesParts,
  name: string,
  options: BackfillOptions,
): Promise<BackfillReport> {
  const { from, to, dryRun } = checkOptions(CALL, options, OPTIONS)
  await parts.adapter.open()
  const { schedule, now } = await lookAt(parts, CALL, name)
  const times = timesBetween(schedule, { from, to, now })
  const dates = times.map((time) => new Date(time))
  if (dryRun) return { times: dates, runs: [] }
  const runs: BackfillReport['runs'][number][] = []
  for (let first = 0; first < times.length; first += BATCH_MAX) {
    const batch = times.slice(first, first + BATCH_MAX)
    const started = await startBatch(parts, name, batch)
    batch.forEach((time, index) => {
      const { runId, created } = started[index]!
      runs.push({ scheduledAt: new Date(time), runId, created })
    })
  }
  return { times: dates, runs }
}

function timesBetween(
  { spec }: ScheduleRecord,
  { from, to, now }: { readonly from: number; readonly to: number; readonly now: number },
): readonly number[] {
  const problem =
    from > to
      ? 'from is after to. Exchange them.'
      : to > now
        ? 'to is in the future. Give an instant that has passed.'
        : undefined
  if (problem !== undefined) throw new BelayError('invalid_option', `${CALL}: ${problem}`)
  const max = TIMES_MAX + 1
  const times = timesFrom(spec.timing, { from, to: Math.min(to, spec.until ?? to), max })
  if (times.length <= TIMES_MAX) return times
  throw new BelayError(
    'invalid_option',
    `${CALL}: more than ${TIMES_MAX} times lie between from and to. Give a shorter range: the first ${TIMES_MAX} end at ${new Date(times[TIMES_MAX - 1]!).toISOString()}.`,
  )
}

/** Starts the runs of these times in one transaction. Runs that exist already answer instead of new ones. */
async function startBatch(
  parts: SchedulesParts,
  name: string,
  times: readonly number[],
): Promise<readonly StartedRun[]> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { schedule } = await lookAt(parts, CALL, name)
    const preparer = new RunPreparer(parts)
    const firings: PreparedFiring[] = []
    for (const scheduledAt of times) {
      const run = await preparer.runOf(schedule, scheduledAt, 'backfill')
      firings.push({ scheduledAt, cause: 'backfill', run, refusal: null })
    }
    const { answers, started } = await parts.adapter.changeSchedules<boolean>({
      names: [name],
      decide: (found) => {
        if (found.schedule?.revision !== schedule.revision) return { change: null, answer: false }
        const request = { found: { ...found, schedule: found.schedule }, firings, waiting: new Map() }
        return { change: planFirings({ ...request, overlap: 'allow' }).change, answer: true }
      },
    })
    if (!answers[0]!.answer) continue
    parts.onStarted(started)
    return started
  }
  throw new StoreContendedError(
    `${CALL}: schedule ${JSON.stringify(name)} changed ${TRIES_MAX} times meanwhile. Call again: what was started stays.`,
  )
}
