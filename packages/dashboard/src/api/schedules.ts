import type { ActionResult, RunLink } from '../api.ts'

/**
 * | route | answer |
 * |---|---|
 * | `GET schedules?workflow=…&paused=…&after=…&limit=…` | {@link SchedulesPage}, by name |
 * | `GET schedules/:name` | {@link SchedulePage} |
 * | `POST schedules/:name/actions` | {@link ScheduleActionResult}; the body is {@link ScheduleActionRequest} |
 */
export interface SchedulesPage {
  readonly readAt: number
  /** The ends of the calendar. */
  readonly from: number
  readonly until: number
  readonly schedules: readonly ListedSchedule[]
  /** Whether others follow. */
  readonly more: boolean
  /** What the doctor says about schedules: of all, not of this page. */
  readonly findings: readonly string[]
}

export interface Schedule {
  readonly name: string
  readonly workflow: string
  /** Undefined for the newest stored one. */
  readonly version?: number | undefined
  /** Pattern and zone, or else a distance. */
  readonly cron?: string | undefined
  readonly timeZone?: string | undefined
  readonly everyMs?: number | undefined
  readonly status: 'active' | 'paused' | 'ended'
  readonly declared: boolean
  /** With its jitter. In the past for one that is late. */
  readonly nextAt?: number | undefined
  readonly pausedAt?: number | undefined
  readonly pauseReason?: string | undefined
}

export interface ListedSchedule extends Schedule {
  readonly newest?: Firing | undefined
  /** Its firings since the calendar begins, the newest first, as far as its history keeps them. */
  readonly past: readonly Firing[]
  /** Older ones are no longer kept. */
  readonly pastFrom?: number | undefined
  /** When it fires until the calendar ends; of one that is paused, when it would. */
  readonly ahead: readonly number[]
  /** There are more in the calendar than are listed: after this instant. */
  readonly aheadUntil?: number | undefined
}

export interface Firing {
  readonly sequence: number
  readonly at: number
  /** Of one that was missed: the last of the times for which it stands. */
  readonly untilAt?: number | undefined
  readonly cause: 'time' | 'trigger' | 'backfill'
  readonly status: 'started' | 'queued' | 'skipped' | 'missed' | 'failed'
  readonly runId?: string | undefined
  /** Why it has no run, or what it waits for. */
  readonly reason?: string | undefined
}

export interface SchedulePage {
  readonly readAt: number
  readonly schedule: Schedule & {
    readonly overlap: string
    readonly catchUp: string
    readonly jitterMs: number
    readonly until?: number | undefined
    readonly timeAs?: string | undefined
    readonly tags: readonly string[]
    /** All that it has had. */
    readonly firings: number
  }
  /** What it does next. */
  readonly sentence: string
  /** The next ten. */
  readonly times: readonly { readonly at: number; readonly firesAt: number }[]
  /** The newest 100, newest first. */
  readonly firings: readonly Firing[]
  /** Its newest runs, those of these firings among them. */
  readonly runs: readonly RunLink[]
}

export type ScheduleAction = 'fire' | 'pause' | 'resume' | 'backfill'

export interface ScheduleActionRequest {
  readonly action: ScheduleAction
  /** Tells what would happen, and changes nothing. */
  readonly dryRun: boolean
  /** To pause: the schedule keeps it until it is resumed. The others take none, because nothing would keep it. */
  readonly reason?: string
  /** To backfill: the first and the last time. */
  readonly from?: number
  readonly to?: number
}

export interface ScheduleActionResult extends ActionResult {
  /** Of a firing. */
  readonly runId?: string | undefined
}
