import type { ChangedRun, FiringRecord, ScheduleRecord, StartedRun } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import { messageOf } from '../../thrown.ts'
import { sendApart } from '../base/send-apart.ts'
import { type DueTimes, dueTimes, type PreparedFiring, planFirings } from './plan-firing.ts'
import { type PrepareParts, RunPreparer } from './prepare-runs.ts'

/** The most schedules that one transaction fires. */
const ROUND_MAX = 100
/** The most rounds of one look: then other work of the worker has its turn. */
const ROUNDS_MAX = 10
/** The firings that wait and may start in one round: usually the first one does. */
const WAITING_MAX = 3

export interface FirerParts extends PrepareParts {
  readonly log: Logger
  /** Runs of these definitions are there. */
  readonly onStarted: (started: readonly StartedRun[]) => void
  readonly onCancelled: (runs: readonly ChangedRun[]) => void
}

/** A schedule that is due, as it was read without a lock, with everything that takes time already done. */
interface Prepared {
  readonly schedule: ScheduleRecord
  readonly due: DueTimes
  readonly firings: readonly PreparedFiring[]
  readonly waiting: ReadonlyMap<number, PreparedFiring>
}

/**
 * Fires the schedules that are due. Everything that takes time is done on rows that were read without a lock: times, definitions, inputs. Then one
 * transaction locks the schedules, leaves out those that have changed since, decides about overlaps, starts the runs and moves the schedules on.
 * Resolves to whether a schedule changed: then another may be due, or soon will be.
 */
export async function fireDue(parts: FirerParts): Promise<boolean> {
  let changed = false
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { schedules, now } = await parts.adapter.readSchedules({ due: true, limit: ROUND_MAX })
    if (schedules.length === 0) return changed
    const preparer = new RunPreparer(parts)
    const prepared: Prepared[] = []
    for (const schedule of schedules) prepared.push(await prepare(parts, preparer, schedule, now))
    const moved = (await fireAll(parts, prepared)).size > 0
    changed ||= moved
    const mayBeMore = schedules.length === ROUND_MAX || prepared.some(({ due }) => isBehind(due, now))
    if (!moved || !mayBeMore) return changed
  }
  return changed
}

/**
 * A run has ended for which firings of these schedules may wait: starts the next one at once, without the look that finds it later. Also fires what is
 * due. Resolves to the schedules that somebody else had locked, or has changed since they were read: they may have been decided before the end.
 */
export async function fireNext(parts: FirerParts, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { schedules, now } = await parts.adapter.readSchedules({ names, limit: names.length })
  const preparer = new RunPreparer(parts)
  const prepared: Prepared[] = []
  for (const schedule of schedules) {
    if (schedule.pausedAt !== null) continue
    const one = await prepare(parts, preparer, schedule, now)
    if (one.waiting.size > 0) prepared.push(one)
  }
  const changed = await fireAll(parts, prepared)
  return new Set(prepared.map(({ schedule }) => schedule.name).filter((name) => !changed.has(name)))
}

function isBehind({ nextAt }: DueTimes, now: number): boolean {
  return nextAt !== null && nextAt <= now
}

async function prepare(
  { adapter }: FirerParts,
  preparer: RunPreparer,
  schedule: ScheduleRecord,
  now: number,
): Promise<Prepared> {
  const due = dueTimes(schedule, now)
  const firings: PreparedFiring[] = []
  for (const scheduledAt of due.times)
    firings.push(await preparer.prepare(schedule, { scheduledAt, cause: 'time' }))
  const waiting = new Map<number, PreparedFiring>()
  if (schedule.spec.overlap === 'queue' || due.times.length === 0)
    for (const firing of await oldestWaiting(adapter, schedule))
      waiting.set(firing.sequence, await preparer.prepare(schedule, firing))
  return { schedule, due, firings, waiting }
}

async function oldestWaiting(
  adapter: FirerParts['adapter'],
  { name }: ScheduleRecord,
): Promise<readonly FiringRecord[]> {
  return adapter.readFirings({ name, queued: true, limit: WAITING_MAX })
}

/** A schedule whose firing the store refuses, or that somebody has locked, does not hold up the others. Resolves to the names of those that changed. */
async function fireAll(parts: FirerParts, prepared: readonly Prepared[]): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  await sendApart(prepared, {
    send: async (batch) => {
      for (const name of await fire(parts, batch)) changed.add(name)
    },
    refused: async (one, error) => {
      parts.log.error('A schedule could not fire.', { schedule: one.schedule.name, error })
      for (const name of await recordRefusal(parts, one, messageOf(error))) changed.add(name)
    },
    // Somebody has locked a run that it would cancel. The next look tries again.
    heldUp: () => {},
    unanswered: (_, error) => {
      throw error
    },
  })
  return changed
}

/** What the store refuses is refused again: the schedule goes on without it. */
function recordRefusal(parts: FirerParts, one: Prepared, refusal: string): Promise<ReadonlySet<string>> {
  const refused = (firing: PreparedFiring): PreparedFiring => ({ ...firing, run: null, refusal })
  const waiting = new Map([...one.waiting].map(([sequence, firing]) => [sequence, refused(firing)]))
  return fire(parts, [{ ...one, firings: one.firings.map(refused), waiting }])
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
