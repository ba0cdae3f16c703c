import type {
  FiringRecord,
  FoundSchedule,
  NewRun,
  OpenFiring,
  RunStatus,
  ScheduleChange,
  ScheduleRecord,
} from '../../adapter/index.ts'
import { isTerminal } from '../../adapter/index.ts'
import { fireAt, lastTimes, nextTime } from './timing.ts'

/** The most times that a schedule with `catchUp: 'all'` makes up for. */
export const CAUGHT_UP_MAX = 100
/** The most of them that one transaction starts. */
const STARTS_MAX = 10
/** The most firings that wait for an earlier run. */
export const QUEUED_MAX = 100
/** How late a firing may be before `catchUp: 'none'` drops it. */
const LATE_MAX_MS = 60_000
const REASON_MAX = 1_000

/** What a look at a schedule finds due. */
export interface DueTimes {
  /** The times to fire, ascending. */
  readonly times: readonly number[]
  /** Times that nobody makes up for. */
  readonly missed: { readonly from: number; readonly to: number } | null
  /** The time after these; null if the schedule is over. */
  readonly nextAt: number | null
  /** Why its times cannot be computed, and after how long somebody looks again. */
  readonly failure?: string
  readonly againMs?: number
}

/** Which times of a schedule are due, and which of them fire. */
export function dueTimes(schedule: ScheduleRecord, now: number): DueTimes {
  const { spec, nextAt } = schedule
  if (nextAt === null || fireAt(schedule, nextAt) > now) return { times: [], missed: null, nextAt }
  const max = spec.catchUp === 'all' ? CAUGHT_UP_MAX : 1
  const found = lastTimes(spec.timing, { from: nextAt, to: Math.min(now, spec.until ?? now), max })
  // Later times may still be held back by their jitter.
  const due = found.filter((time) => fireAt(schedule, time) <= now)
  const all = due.length > 0 ? due : [nextAt]
  const wanted =
    spec.catchUp === 'none' ? all.filter((time) => now - fireAt(schedule, time) <= LATE_MAX_MS) : all
  const times = wanted.slice(0, STARTS_MAX)
  const last = times.at(-1) ?? all.at(-1)!
  return {
    times,
    missed: missedOf(spec.timing, { from: nextAt, first: times[0], last }),
    nextAt: nextTime(spec.timing, last, spec.until),
  }
}

function missedOf(
  timing: ScheduleRecord['spec']['timing'],
  { from, first, last }: { readonly from: number; readonly first: number | undefined; readonly last: number },
): DueTimes['missed'] {
  if (first === from) return null
  if (first === undefined) return { from, to: last }
  const [to] = lastTimes(timing, { from, to: first - 1, max: 1 })
  return { from, to: to ?? from }
}

/** One firing, with the run that it starts if it may; or with the reason why it cannot. */
export interface PreparedFiring {
  readonly scheduledAt: number
  readonly cause: FiringRecord['cause']
  readonly run: NewRun | null
  readonly refusal: string | null
}

export interface FiringPlan {
  readonly change: ScheduleChange
  /** The firings that are new or moved on. */
  readonly reports: readonly FiringRecord[]
}

/** What a plan starts from: the locked schedule, and what is to be fired. */
export interface FiringRequest {
  readonly found: FoundSchedule & { readonly schedule: ScheduleRecord }
  readonly firings: readonly PreparedFiring[]
  /** The runs of firings that wait, by sequence. */
  readonly waiting: ReadonlyMap<number, PreparedFiring>
  readonly overlap: ScheduleRecord['spec']['overlap']
  readonly due?: DueTimes | undefined
}

type Row = ScheduleChange['firings'][number]

/**
 * Decides what each firing does, one after the other, against the runs that are live under the schedule's lock. First the firings that waited, then
 * the new ones.
 */
export function planFirings(request: FiringRequest): FiringPlan {
  const plan = new Plan(request)
  plan.settleOpen()
  plan.startWaiting()
  if (request.due?.missed) plan.miss(request.due.missed)
  for (const firing of request.firings) plan.fire(firing)
  return plan.made()
}

class Plan {
  readonly #request: FiringRequest
  readonly #rows = new Map<number, Row>()
  readonly #starts: NewRun[] = []
  readonly #cancels: string[] = []
  readonly #reports = new Map<number, FiringRecord>()
  readonly #live: string[] = []
  #queued: OpenFiring[]
  #newlyQueued = 0
  #sequence: number

  constructor(request: FiringRequest) {
    this.#request = request
    const { open, schedule } = request.found
    this.#queued = open.filter(({ status }) => status === 'queued')
    this.#sequence = schedule.firings
  }

  /** Runs that have ended are not looked at again. */
  settleOpen(): void {
    for (const { runStatus, ...firing } of this.#request.found.open) {
      if (firing.status === 'queued') continue
      if (isLive(runStatus)) this.#live.push(firing.runId!)
      else this.#rows.set(firing.sequence, { ...firing, isOpen: false })
    }
  }

  /** The firing that has waited longest, once nothing is live. */
  startWaiting(): void {
    for (const { runStatus: _, ...firing } of this.#queued) {
      if (this.#live.length > 0) return
      const prepared = this.#request.waiting.get(firing.sequence)
      // It was queued after this look began.
      if (prepared === undefined) return
      this.#queued = this.#queued.slice(1)
      this.#end(firing, prepared)
    }
  }

  miss({ from, to }: { readonly from: number; readonly to: number }): void {
    const reason = 'No worker looked at the schedule in time, and it does not catch up with these times.'
    const firing = this.#newFiring(from, 'time')
    this.#report({ ...firing, untilAt: to, status: 'missed', reason }, false)
  }

  fire(prepared: PreparedFiring): void {
    const firing = this.#newFiring(prepared.scheduledAt, prepared.cause)
    if (prepared.refusal !== null) return this.#end(firing, prepared)
    const { overlap } = this.#request
    const isBusy = this.#live.length > 0 || this.#waits > 0
    if (isBusy && overlap === 'skip')
      return this.#skip(
        firing,
        `Run ${this.#live[0] ?? 'of an earlier firing'} of this schedule has not ended.`,
      )
    if (isBusy && overlap === 'queue') return this.#queue(firing)
    if (overlap === 'cancel-running') this.#replaceLive(firing.scheduledAt)
    this.#end(firing, prepared)
  }

  made(): FiringPlan {
    const { found, due } = this.#request
    const { schedule, now } = found
    const nextAt = due === undefined ? schedule.nextAt : due.nextAt
    const firings = [...this.#rows.values()]
    const next = { ...schedule, nextAt, firings: this.#sequence }
    const dueAt = schedule.pausedAt === null ? this.#dueAt(next, now) : null
    const change = { schedule: { ...next, dueAt }, firings, starts: this.#starts, cancels: this.#cancels }
    return { change, reports: [...this.#reports.values()] }
  }

  get #waits(): number {
    return this.#queued.length + this.#newlyQueued
  }

  #dueAt(schedule: ScheduleRecord, now: number): number | null {
    const { againMs } = this.#request.due ?? {}
    if (againMs !== undefined) return now + againMs
    const timed = schedule.nextAt === null ? null : fireAt(schedule, schedule.nextAt)
    if (this.#waits === 0) return timed
    return Math.min(timed ?? Number.POSITIVE_INFINITY, now + lookMs(this.#request.found))
  }

  #newFiring(scheduledAt: number, cause: FiringRecord['cause']): Omit<FiringRecord, 'status' | 'reason'> {
    this.#sequence += 1
    const { now: decidedAt } = this.#request.found
    return { sequence: this.#sequence, scheduledAt, untilAt: null, decidedAt, cause, runId: null }
  }

  #end(firing: Omit<FiringRecord, 'status' | 'reason'>, { run, refusal }: PreparedFiring): void {
    if (run === null) return this.#report({ ...firing, status: 'failed', reason: cut(refusal!) }, false)
    this.#starts.push(run)
    this.#live.push(run.runId)
    this.#report({ ...firing, status: 'started', runId: run.runId, reason: null }, true)
  }

  /** Live runs are cancelled. One that this plan would start is not started at all. */
  #replaceLive(by: number): void {
    for (const runId of this.#live.splice(0)) {
      const own = this.#starts.findIndex((run) => run.runId === runId)
      if (own === -1) {
        this.#cancels.push(runId)
        continue
      }
      this.#starts.splice(own, 1)
      const row = [...this.#rows.values()].find((firing) => firing.runId === runId)!
      this.#skip({ ...row, runId: null }, `The firing of ${new Date(by).toISOString()} took its place.`)
    }
  }

  #queue(firing: Omit<FiringRecord, 'status' | 'reason'>): void {
    if (this.#waits >= QUEUED_MAX) return this.#skip(firing, `${QUEUED_MAX} firings are waiting already.`)
    this.#newlyQueued += 1
    const reason = `It waits for run ${this.#live[0] ?? 'of an earlier firing'} to end.`
    this.#report({ ...firing, status: 'queued', reason }, true)
  }

  #skip(firing: Omit<FiringRecord, 'status' | 'reason'>, reason: string): void {
    this.#report({ ...firing, status: 'skipped', reason }, false)
  }

  #report(firing: FiringRecord, isOpen: boolean): void {
    this.#rows.set(firing.sequence, { ...firing, isOpen })
    this.#reports.set(firing.sequence, firing)
  }
}

export function isLive(status: RunStatus | null): boolean {
  return status !== null && !isTerminal(status)
}

/** The longer a run has gone on, the less often somebody looks whether it has ended. */
const LOOK_MIN_MS = 1_000
const LOOK_MAX_MS = 30_000

/** How long until a look at firings that wait: a tenth of how long the live run has taken. */
function lookMs({ open, now }: FoundSchedule): number {
  const live = open.find(({ status, runStatus }) => status === 'started' && isLive(runStatus))
  const tookMs = live === undefined ? 0 : now - live.decidedAt
  return Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, tookMs / 10))
}

function cut(text: string): string {
  return text.length <= REASON_MAX ? text : `${text.slice(0, REASON_MAX - 1)}…`
}
