import type { ChangedRun } from './changed-run.ts'
import type { RunStatus } from './lifecycle.ts'
import type { JsonText } from './records.ts'
import type { NewRun, StartedRun } from './starts.ts'
import type { WithinTransaction } from './transaction.ts'

/** When a schedule fires: at the matches of a cron pattern in a time zone, or at equal distances from an instant. */
export type Timing =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMs: number; readonly anchorAt: number }

/** What a schedule does, as its owner put it. The store keeps it as JSON and reads nothing of it. */
export interface ScheduleSpec {
  readonly timing: Timing
  /** The version that its runs follow; null for the newest stored one. */
  readonly version: number | null
  readonly overlap: 'skip' | 'queue' | 'cancel-running' | 'allow'
  readonly catchUp: 'none' | 'last' | 'all'
  readonly jitterMs: number
  /** The last instant at which it may fire, in epoch milliseconds. */
  readonly until: number | null
  readonly tags: readonly string[]
  /** The property of the input that gets the scheduled time. */
  readonly timeAs: string | null
  /** Whether it was declared in code. */
  readonly declared: boolean
}

/** One schedule. Instants are epoch milliseconds, store clock. */
export interface ScheduleRecord {
  readonly name: string
  readonly workflow: string
  readonly spec: ScheduleSpec
  /** JSON text of the input of its runs. */
  readonly input: JsonText
  readonly pausedAt: number | null
  readonly pauseReason: string | null
  /** The next time of its timing that has not been dealt with; null once it has ended. It stays during a pause. */
  readonly nextAt: number | null
  /** When a worker has to look at it: for `nextAt` and its jitter, or for firings that wait. Null for never. */
  readonly dueAt: number | null
  /** Grows with every change. */
  readonly revision: number
  /** The number of its newest firing. */
  readonly firings: number
  readonly createdAt: number
  /** The latest store clock at which it was written: it never goes back, whatever the clock does. */
  readonly updatedAt: number
}

/**
 * `started`: `runId` is its run. `queued`: it waits for an earlier run to end. `skipped`: because an earlier run was live, or too many were waiting.
 * `missed`: nobody was there, and the schedule does not catch up; stands for all times from `scheduledAt` to `untilAt`. `failed`: its run was refused.
 */
export type FiringStatus = 'started' | 'queued' | 'skipped' | 'missed' | 'failed'

/** One firing of a schedule, in its history. */
export interface FiringRecord {
  readonly sequence: number
  readonly scheduledAt: number
  readonly untilAt: number | null
  /** When it was decided. */
  readonly decidedAt: number
  readonly cause: 'time' | 'trigger' | 'backfill'
  readonly status: FiringStatus
  readonly runId: string | null
  readonly reason: string | null
}

/** A firing that is not over: it waits, or its run was live when the schedule was last looked at. */
export interface OpenFiring extends FiringRecord {
  /** The status of its run now; null if it has none, or if the run was deleted. */
  readonly runStatus: RunStatus | null
}

/** A locked schedule, for `decide`. */
export interface FoundSchedule {
  readonly name: string
  /** Null if there is none of this name. */
  readonly schedule: ScheduleRecord | null
  /** Its open firings, oldest first. */
  readonly open: readonly OpenFiring[]
  /** Whole milliseconds: times are reckoned from it, and compared with those that were stored. */
  readonly now: number
}

/** What to write. */
export interface ScheduleChange {
  /** The new row; null deletes the schedule and its history. The store sets `revision`, `createdAt` and `updatedAt`. */
  readonly schedule: ScheduleRecord | null
  /**
   * New firings, and new states of open ones, by sequence. `isOpen` keeps a firing among the open ones. A firing whose run was not created, because
   * its key is taken, gets the id of the run that has the key.
   */
  readonly firings: readonly (FiringRecord & { readonly isOpen: boolean })[]
  /** Runs to start, in the same commit. */
  readonly starts: readonly NewRun[]
  /** Runs to cancel, in the same commit, if they still go forward. */
  readonly cancels: readonly string[]
}

export interface ScheduleDecision<Answer> {
  /** Null writes nothing. */
  readonly change: ScheduleChange | null
  readonly answer: Answer
}

export interface SchedulesToChange<Answer> {
  readonly names: readonly string[]
  /** Leaves out schedules that another transaction has locked, instead of waiting for them, and names without a schedule. */
  readonly skipLocked?: boolean | undefined
  readonly decide: (found: FoundSchedule) => ScheduleDecision<Answer>
}

export interface ChangedSchedules<Answer> {
  /** One for each schedule that was not left out, in the order of the names. */
  readonly answers: readonly { readonly name: string; readonly answer: Answer }[]
  readonly started: readonly StartedRun[]
  readonly cancelled: readonly ChangedRun[]
}

export interface SchedulesFilter {
  /** Only these; unknown ones are left out. */
  readonly names?: readonly string[] | undefined
  readonly workflow?: string | undefined
  readonly paused?: boolean | undefined
  readonly declared?: boolean | undefined
  /** Only schedules that are due, the longest due first. */
  readonly due?: boolean | undefined
  /** Only schedules whose newest firing failed. */
  readonly failing?: boolean | undefined
  /** Only schedules after this name, for paging. */
  readonly after?: string | undefined
  readonly limit: number
}

/** The most firings of a schedule that are kept, besides those that are open. */
export const FIRINGS_KEPT = 100

/** The verbs about schedules. */
export interface ScheduleVerbs {
  /**
   * Changes schedules: locks them, calls `decide` with each and its open firings, and writes all changes in one commit, with the runs that they start
   * and cancel. A name without a schedule is decided too, with null. `decide` must be pure: the store may call it again when it had to repeat the
   * transaction. If it throws, nothing is written and the error is rethrown. Of firings that are over, only the newest 100
   * are kept.
   *
   * With `tx`, the changes are part of that transaction, which keeps the schedules locked until it ends. Workers are woken when it commits. Throws
   * `invalid_option` if `tx` is not an open transaction of this store, and `refusedStart()` for an input that the store can never store.
   */
  changeSchedules<Answer>(
    request: SchedulesToChange<Answer>,
    options?: WithinTransaction,
  ): Promise<ChangedSchedules<Answer>>

  /** Schedules by name, ascending; with `due`, those that were due longest. `now` is in whole milliseconds. */
  readSchedules(
    filter: SchedulesFilter,
  ): Promise<{ readonly schedules: readonly ScheduleRecord[]; readonly now: number }>

  /**
   * The newest firings of a schedule, newest first. With `before`, only those with a lower sequence. With `queued`, instead those that wait, oldest
   * first.
   */
  readFirings(request: {
    readonly name: string
    readonly queued?: boolean | undefined
    readonly before?: number | undefined
    readonly limit: number
  }): Promise<readonly FiringRecord[]>
}
