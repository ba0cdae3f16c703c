import type { FiringRecord, ScheduleRecord, ScheduleSpec } from '../../adapter/index.ts'
import { fromJsonText } from '../base/payload.ts'
import { fireAt } from './timing.ts'

/** A schedule, as it was read. */
export interface ScheduleSnapshot {
  readonly name: string
  readonly workflow: string
  /** The version that its runs follow; undefined for the newest stored one. */
  readonly version: number | undefined
  /** The pattern and its time zone; undefined if it has a distance. */
  readonly cron: string | undefined
  readonly timeZone: string | undefined
  /** The distance between two firings, in milliseconds; undefined if it has a pattern. */
  readonly everyMs: number | undefined
  readonly input: unknown
  readonly timeAs: string | undefined
  readonly tags: readonly string[]
  readonly overlap: ScheduleSpec['overlap']
  readonly catchUp: ScheduleSpec['catchUp']
  readonly jitterMs: number
  readonly until: Date | undefined
  /** Whether it was declared in code, with the option `schedules`. */
  readonly declared: boolean
  /** `ended`: it fires no more, because `until` has passed. */
  readonly status: 'active' | 'paused' | 'ended'
  readonly pausedAt: Date | undefined
  readonly pauseReason: string | undefined
  /** The next time at which it fires, jitter included. Undefined while it is paused, and when it has ended. */
  readonly nextAt: Date | undefined
  /** How many firings it has had, those that were skipped, missed or failed included. */
  readonly firings: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** One firing of a schedule. */
export interface ScheduleFiring {
  /** Its number; grows with each firing. */
  readonly sequence: number
  /** The time of the schedule, without jitter. For a trigger, the time of the call. */
  readonly scheduledAt: Date
  /** Only if it was missed: the last of the times that this entry stands for. */
  readonly untilAt: Date | undefined
  readonly decidedAt: Date
  readonly cause: FiringRecord['cause']
  readonly status: FiringRecord['status']
  /** The run that it started. */
  readonly runId: string | undefined
  /** Why it has no run, or what it waits for. */
  readonly reason: string | undefined
}

export function scheduleSnapshot(schedule: ScheduleRecord): ScheduleSnapshot {
  const { name, workflow, spec, pausedAt, pauseReason, nextAt } = schedule
  const { timing, version, timeAs, until, overlap, catchUp, jitterMs, tags, declared } = spec
  const isPaused = pausedAt !== null
  const hasEnded = nextAt === null
  return {
    ...{ name, workflow, version: version ?? undefined },
    cron: 'cron' in timing ? timing.cron : undefined,
    timeZone: 'cron' in timing ? timing.timeZone : undefined,
    everyMs: 'cron' in timing ? undefined : timing.everyMs,
    input: fromJsonText(schedule.input),
    ...{ timeAs: timeAs ?? undefined, tags, overlap, catchUp, jitterMs, declared },
    until: dateOf(until),
    status: isPaused ? 'paused' : hasEnded ? 'ended' : 'active',
    ...{ pausedAt: dateOf(pausedAt), pauseReason: pauseReason ?? undefined },
    nextAt: isPaused || hasEnded ? undefined : new Date(fireAt(schedule, nextAt)),
    firings: schedule.firings,
    createdAt: new Date(schedule.createdAt),
    updatedAt: new Date(schedule.updatedAt),
  }
}

export function scheduleFiring(firing: FiringRecord): ScheduleFiring {
  const { sequence, scheduledAt, untilAt, decidedAt, cause, status, runId, reason } = firing
  return {
    sequence,
    ...{ scheduledAt: new Date(scheduledAt), untilAt: dateOf(untilAt), decidedAt: new Date(decidedAt) },
    ...{ cause, status, runId: runId ?? undefined, reason: reason ?? undefined },
  }
}

function dateOf(instant: number | null): Date | undefined {
  return instant === null ? undefined : new Date(instant)
}
