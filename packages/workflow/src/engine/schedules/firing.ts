import type { ChangedRun, FiringRecord, ScheduleRecord, StartedRun } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import { messageOf } from '../../thrown.ts'
import { sentence } from '../../words.ts'
import type { Apart } from '../base/apart.ts'
import { isUnavailable } from '../base/outage.ts'
import { sendApart } from '../base/send-apart.ts'
import type { Refused, SetAside } from '../base/set-aside.ts'
import { type DueTimes, dueTimes, type PreparedFiring, planFirings } from './plan-firing.ts'
import { type PrepareParts, RunPreparer } from './prepare-runs.ts'

/** The most schedules that one transaction fires. */
const ROUND_MAX = 100
/** The most rounds of one look: then other work of the worker has its turn. */
const ROUNDS_MAX = 10
/** After how long somebody looks again at times that cannot be computed. */
const BROKEN_REST_MS = 60_000
/** The firings that wait and may start in one round: usually the first one does. */
const WAITING_MAX = 3

const NOT_FIRED = 'A schedule could not fire.'

export interface FirerParts extends PrepareParts {
  readonly log: Logger
  /** Prepares each schedule apart from the others. One for all looks of a process. */
  readonly apart: Apart
  readonly aside: SetAside
  /** False once the worker has stopped: what was prepared late is left to others. */
  readonly isWorking: () => boolean
  /** Runs of these definitions are there. */
  readonly onStarted: (started: readonly StartedRun[]) => void
  readonly onCancelled: (runs: readonly ChangedRun[]) => void
}

/** A schedule that is due, as it was read without a lock. */
interface Found {
  readonly schedule: ScheduleRecord
  readonly due: DueTimes
  /** The firings that have waited longest. */
  readonly queued: readonly FiringRecord[]
}

/** The same, with everything done that takes time. */
interface Prepared extends Found {
  readonly firings: readonly PreparedFiring[]
  readonly waiting: ReadonlyMap<number, PreparedFiring>
}

/**
 * Fires the schedules that are due. Everything that takes time is done on rows that were read without a lock: times, definitions, inputs. Then one
 * transaction locks the schedules, leaves out those that have changed since, decides about overlaps, starts the runs and moves the schedules on. A
 * schedule whose input takes its schema long is fired alone, once that has answered.
 * Resolves to whether a schedule changed: then another may be due, or soon will be.
 */
export async function fireDue(parts: FirerParts): Promise<boolean> {
  let changed = false
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { skipped } = parts.apart
    const limit = ROUND_MAX + skipped
    const { schedules, now } = await parts.adapter.readSchedules({ due: true, limit })
    const prepared = await prepareAll(parts, schedules, now)
    const moved = prepared.length > 0 && (await fireAll(parts, prepared)).size > 0
    changed ||= moved
    const mayBeMore = schedules.length === limit || prepared.some(({ due }) => isBehind(due, now))
    // Those that were left to themselves make room for others in the next look.
    const isNearer = moved || parts.apart.skipped > skipped
    if (!isNearer || !mayBeMore) return changed
  }
  return changed
}

/**
 * A run has ended for which firings of these schedules may wait: starts the next one at once, without the look that finds it later. Also fires what is
 * due. Resolves to the schedules that somebody else had locked, or has changed since they were read: they may have been decided before the end.
 */
export async function fireNext(parts: FirerParts, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { schedules, now } = await parts.adapter.readSchedules({ names, limit: names.length })
  const active = schedules.filter(({ pausedAt }) => pausedAt === null)
  // One that goes on alone is decided after this end, by itself or by its next look.
  const prepared = (await prepareAll(parts, active, now)).filter(({ waiting }) => waiting.size > 0)
  const changed = await fireAll(parts, prepared)
  return new Set(prepared.map(({ schedule }) => schedule.name).filter((name) => !changed.has(name)))
}

function isBehind({ nextAt, againMs }: DueTimes, now: number): boolean {
  return nextAt !== null && nextAt <= now && againMs === undefined
}

/** First what only the store is asked for, then what may call a schema. Resolves to those that are prepared soon; the others are fired alone. */
async function prepareAll(
  parts: FirerParts,
  schedules: readonly ScheduleRecord[],
  now: number,
): Promise<readonly Prepared[]> {
  const preparer = new RunPreparer(parts)
  const found: Found[] = []
  for (const schedule of schedules) {
    if (parts.apart.skips(schedule.name)) continue
    await preparer.know(schedule)
    found.push(await findDue(parts, schedule, now))
  }
  return parts.apart.each(found, {
    keyOf: ({ schedule }) => schedule.name,
    work: (one) => prepare(preparer, one),
    late: async (one) => {
      if (parts.isWorking()) await fireAll(parts, [one])
    },
    onError: ({ schedule }, error) => {
      if (parts.isWorking()) parts.log.error(NOT_FIRED, { schedule: schedule.name, error })
    },
  })
}

async function findDue({ adapter }: FirerParts, schedule: ScheduleRecord, now: number): Promise<Found> {
  const due = dueOf(schedule, now)
  const mayStart = schedule.spec.overlap === 'queue' || due.times.length === 0
  return { schedule, due, queued: mayStart ? await oldestWaiting(adapter, schedule) : [] }
}

/** One whose times cannot be computed, as in a time zone that this runtime does not know, fails and is looked at again later. */
function dueOf(schedule: ScheduleRecord, now: number): DueTimes {
  try {
    return dueTimes(schedule, now)
  } catch (error) {
    const failure = `Its times cannot be computed: ${sentence(messageOf(error))} Put the schedule with another timing, or run workers that know its time zone.`
    return { times: [], missed: null, nextAt: schedule.nextAt, failure, againMs: BROKEN_REST_MS }
  }
}

async function prepare(preparer: RunPreparer, found: Found): Promise<Prepared> {
  const { schedule, due, queued } = found
  const firings: PreparedFiring[] = []
  for (const scheduledAt of due.times)
    firings.push(await preparer.prepare(schedule, { scheduledAt, cause: 'time' }))
  if (due.failure !== undefined)
    firings.push({ scheduledAt: schedule.nextAt!, cause: 'time', run: null, refusal: due.failure })
  const waiting = new Map<number, PreparedFiring>()
  for (const firing of queued) waiting.set(firing.sequence, await preparer.prepare(schedule, firing))
  return { ...found, firings, waiting }
}

async function oldestWaiting(
  adapter: FirerParts['adapter'],
  { name }: ScheduleRecord,
): Promise<readonly FiringRecord[]> {
  return adapter.readFirings({ name, queued: true, limit: WAITING_MAX })
}

/**
 * A schedule whose firing the store refuses, or that somebody has locked, does not hold up the others: the next time it is fired alone, after them.
 * Resolves to the names of those that changed.
 */
async function fireAll(parts: FirerParts, prepared: readonly Prepared[]): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  const isAside = (one: Prepared) => parts.aside.has(subjectOf(one))
  const alone = prepared.filter(isAside).map((one) => [one])
  for (const batch of [prepared.filter((one) => !isAside(one)), ...alone])
    for (const name of await fireTogether(parts, batch)) changed.add(name)
  return changed
}

/** Only what is wrong with its runs fails a firing. What the store may accept later is set aside, and tried again. */
async function fireTogether(parts: FirerParts, together: readonly Prepared[]): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  await sendApart(together, {
    send: async (batch) => {
      for (const name of await fire(parts, batch)) changed.add(name)
      for (const one of batch) parts.aside.accepted(subjectOf(one))
    },
    refused: async (one, error) => {
      const { name } = one.schedule
      const failed = withoutRuns(one, messageOf(error))
      if (isUnavailable(error) || failed === one)
        return parts.apart.rest(name, parts.aside.refused(subjectOf(one), error))
      parts.log.error(NOT_FIRED, { schedule: name, error })
      for (const own of await fireTogether(parts, [failed])) changed.add(own)
    },
    // Somebody has locked a run that it would cancel. The next look tries again.
    heldUp: () => {},
    unanswered: (_, error) => {
      throw error
    },
  })
  return changed
}

function subjectOf({ schedule }: Prepared): Refused {
  return { during: 'firing', name: `schedule ${JSON.stringify(schedule.name)}` }
}

/** The same, with firings that fail. Itself if it has no runs: then something else is refused. */
function withoutRuns(one: Prepared, refusal: string): Prepared {
  const refused = (firing: PreparedFiring): PreparedFiring => ({ ...firing, run: null, refusal })
  const waiting = new Map([...one.waiting].map(([sequence, firing]) => [sequence, refused(firing)]))
  const hasRuns = [...one.firings, ...one.waiting.values()].some(({ run }) => run !== null)
  return hasRuns ? { ...one, firings: one.firings.map(refused), waiting } : one
}

async function fire(parts: FirerParts, batch: readonly Prepared[]): Promise<ReadonlySet<string>> {
  const byName = new Map(batch.map((one) => [one.schedule.name, one]))
  const changed = new Set<string>()
  const { answers, started, cancelled } = await parts.adapter.changeSchedules<readonly FiringRecord[]>({
    names: [...byName.keys()],
    skipLocked: true,
    decide: (found) => {
      const { schedule, due, firings, waiting } = byName.get(found.name)!
      // Somebody else has fired it, or changed it.
      if (found.schedule?.revision !== schedule.revision) return { change: null, answer: [] }
      const request = { found: { ...found, schedule: found.schedule }, firings, waiting, due }
      changed.add(found.name)
      const { change, reports } = planFirings({ ...request, overlap: schedule.spec.overlap })
      return { change, answer: reports }
    },
  })
  tell(parts, answers)
  if (started.length > 0) parts.onStarted(started)
  if (cancelled.length > 0) parts.onCancelled(cancelled)
  return changed
}

function tell(
  { log }: FirerParts,
  answers: readonly { readonly name: string; readonly answer: readonly FiringRecord[] }[],
): void {
  for (const { name, answer } of answers) {
    for (const { status, scheduledAt, reason } of answer) {
      const fields = { schedule: name, scheduledAt: new Date(scheduledAt).toISOString(), reason }
      if (status === 'failed') log.error('A firing of a schedule failed; the schedule goes on.', fields)
      else if (status === 'missed') log.warn('A schedule missed a firing.', fields)
    }
  }
}
