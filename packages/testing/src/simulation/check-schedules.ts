import type { Adapter, ChangedSchedules, FiringRecord, ScheduleRecord } from '@belay/workflow/adapter'
import { isTerminal } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import { AT_REST, SCHEDULES } from './schedules.ts'

/** How far behind a schedule may be that an operator pauses when everything has been calm for a while, in milliseconds. */
const BEHIND_MAX_MS = 10_000
/** The most firings that one look at a history shows. */
const FIRINGS_MAX = 1_000

type Report = (violation: string) => void

/** Follows what schedules start. */
export class ScheduleWatch {
  readonly #broken: Report
  /** Runs that an operator sent forward again after their end. */
  readonly #again = new Set<string>()

  constructor(broken: Report) {
    this.#broken = broken
  }

  changed(before: RunDump | undefined, after: RunDump | undefined): void {
    if (before === undefined || after === undefined || !isTerminal(before.run.status)) return
    if (!isTerminal(after.run.status)) this.#again.add(after.run.runId)
  }

  /** Schedules have started runs: besides an earlier one that is live only if they may overlap. */
  started({ started }: ChangedSchedules<unknown>, { runs }: Dump): void {
    const created = new Set(started.flatMap(({ runId, created }) => (created ? [runId] : [])))
    for (const found of runs) {
      const name = scheduleOf(found)
      if (name === undefined || !created.has(found.run.runId)) continue
      const { overlap } = SCHEDULES[name as keyof typeof SCHEDULES]
      if (overlap === 'allow') continue
      const beside = runs.find(
        (other) => other !== found && scheduleOf(other) === name && this.#isLive(other, overlap),
      )
      if (beside !== undefined)
        this.#broken(
          `schedule ${name} (${overlap}) started run ${found.run.runId} while ${beside.run.runId} was ${beside.run.status}`,
        )
    }
  }

  #isLive({ run, stored }: RunDump, overlap: string): boolean {
    if (isTerminal(run.status) || this.#again.has(run.runId)) return false
    // It is cancelled in the same commit, and then undone. One that is undone already is left.
    return overlap !== 'cancel-running' || (stored?.stop ?? null) === null
  }

  /** Once everything is at rest: each time has its run, and each run its firing. */
  async checkEnd(adapter: Adapter, { runs }: Dump): Promise<void> {
    const { schedules } = await adapter.readSchedules({ limit: 100 })
    for (const name of Object.keys(SCHEDULES))
      if (!schedules.some((one) => one.name === name)) this.#broken(`schedule ${name} is gone`)
    for (const schedule of schedules) {
      const { name } = schedule
      const firings = await adapter.readFirings({ name, limit: FIRINGS_MAX })
      const own = runs.filter((found) => scheduleOf(found) === name)
      checkKeys(own, name, this.#broken)
      checkFirings(own, { schedule, firings }, this.#broken)
      checkTimes(own, schedule, this.#broken)
    }
  }
}

/** The schedule that started a run, by its key. */
function scheduleOf({ run }: RunDump): string | undefined {
  return run.key === null ? undefined : /^schedule:([^:]+):/.exec(run.key)?.[1]
}

function checkKeys(runs: readonly RunDump[], name: string, broken: Report): void {
  const keys = runs.map(({ run }) => run.key)
  for (const key of new Set(keys.filter((key, index) => keys.indexOf(key) !== index)))
    broken(`schedule ${name} fired ${key} twice`)
}

/** Each run belongs to one firing, and each firing that started has its run. Of a long history, the oldest firings are forgotten. */
function checkFirings(
  runs: readonly RunDump[],
  { schedule, firings }: { readonly schedule: ScheduleRecord; readonly firings: readonly FiringRecord[] },
  broken: Report,
): void {
  const { name } = schedule
  const byTime = new Set<number>()
  for (const { cause, status, scheduledAt, runId } of firings) {
    if (status === 'started' && !runs.some(({ run }) => run.runId === runId))
      broken(`schedule ${name} has a firing for run ${runId}, which is not there`)
    if (cause !== 'time' || status === 'missed') continue
    if (byTime.has(scheduledAt)) broken(`schedule ${name} has two firings for ${scheduledAt}`)
    byTime.add(scheduledAt)
  }
  if (firings.length < schedule.firings) return
  for (const { run } of runs) {
    const count = firings.filter(({ runId }) => runId === run.runId).length
    if (count !== 1) broken(`run ${run.runId} of schedule ${name} has ${count} firings`)
  }
}

/** A schedule that catches up with everything has a run for each of its times, and has come to the last of them. */
function checkTimes(runs: readonly RunDump[], schedule: ScheduleRecord, broken: Report): void {
  const { name, spec, nextAt, pausedAt, pauseReason } = schedule
  if (nextAt === null) return broken(`schedule ${name} has ended`)
  if (pauseReason === AT_REST && nextAt < pausedAt! - BEHIND_MAX_MS)
    broken(`schedule ${name} was at ${nextAt} when it was paused at ${pausedAt}`)
  if (name !== 'all' || !('everyMs' in spec.timing)) return
  const { anchorAt, everyMs } = spec.timing
  const keys = new Set(runs.map(({ run }) => run.key))
  for (let at = anchorAt + everyMs; at < nextAt; at += everyMs)
    if (!keys.has(`schedule:${name}:${new Date(at).toISOString()}`))
      broken(`schedule ${name} did not fire for ${at}`)
}
