import type { StrandedStep, UnknownLeases } from '../../adapter/index.ts'
import type { BelayErrorCode } from '../../errors.ts'
import type { OfferedAction } from './offered-action.ts'

/** A reason why runs do not progress, or soon will not. `message` says what is wrong, `remedy` what to do, `actions` which verbs do it. */
export type Finding = FindingFacts & {
  readonly message: string
  readonly remedy: string
  /** What an operator may do now about it, the gentlest first. Empty if it takes something else, like a worker, or a look at a run with `explain()`. */
  readonly actions: readonly OfferedAction[]
}

/** A finding as it is made: most offer nothing. */
export type FindingDraft = FindingFacts & {
  readonly message: string
  readonly remedy: string
  readonly actions?: readonly OfferedAction[]
}

type FindingFacts =
  /** No live worker has handlers for this version, and some of its runs have not ended. They wait; they do not fail. */
  | ({ readonly type: 'version_without_worker' } & SomeRuns)
  /** Runs whose undo failed permanently: an operator must act. */
  | ({ readonly type: 'parked_runs' } & SomeRuns)
  | ({ readonly type: 'paused_runs' } & SomeRuns)
  /** In the last hour, this engine noticed that the store lacks commits which it had confirmed, or (`isSure: false`) that it may lack some. */
  | { readonly type: 'store_went_back'; readonly at: Date; readonly isSure: boolean }
  /** A worker's lease has expired, and its steps were not returned to the queue. */
  | {
      readonly type: 'dead_worker'
      readonly workerId: string
      readonly name: string
      readonly host: string | undefined
      readonly since: Date | undefined
    }
  /** A live worker holds steps that it does not know: its comparison with the store fails. */
  | ({ readonly type: 'unknown_leases' } & UnknownLeases)
  /** Steps are due although workers that could take them have free slots. */
  | ({ readonly type: 'overdue_steps'; readonly freeSlots: number } & DueSteps)
  /** Steps are due, and the workers that could take them have no free slot. */
  | ({ readonly type: 'no_free_slots'; readonly slots: number } & DueSteps)
  /** Many of the runs that ended of late failed. */
  | {
      readonly type: 'failing_runs'
      readonly workflow: string
      readonly version: number
      /** Since when ends were counted. */
      readonly since: Date
      readonly ended: number
      readonly failed: number
      /** Where most of them failed; undefined if they missed their deadlines. */
      readonly step: string | undefined
      /** A few of the failed runs, the one that ended last first. */
      readonly runIds: readonly string[]
    }
  /** Steps are overdue, and of late more runs are started than end. */
  | {
      readonly type: 'growing_queue'
      readonly workflow: string
      readonly version: number
      readonly startsPerMinute: number
      readonly endsPerMinute: number
      /** Overdue steps. A thousand stands for a thousand or more. */
      readonly steps: number
    }
  /** A step that no worker would ever run. This should be impossible. */
  | {
      readonly type: 'stranded_step'
      readonly runId: string
      readonly workflow: string
      readonly version: number
      readonly step: string
      readonly fault: StrandedStep['fault']
    }
  /** Steps wait for slots of a limit that is set to 0, or of which no slot is taken at all. The second should be impossible. */
  | {
      readonly type: 'closed_limit' | 'stalled_limit'
      readonly limit: string
      /** Of all keys. */
      readonly waiting: number
    }
  /** A run waits for a slot that its parent, or one above it, holds until this run has ended, and the key has no other slot. */
  | {
      readonly type: 'limit_circle'
      readonly limit: string
      readonly runId: string
      readonly holderId: string
    }
  /** The store cannot be used as it is. */
  | { readonly type: 'store_unusable'; readonly code: BelayErrorCode }
  /** Schedules that should have fired: no worker runs, or none can reach them. */
  | { readonly type: 'late_schedules'; readonly schedules: readonly string[]; readonly oldest: Date }
  /** Schedules whose newest firing could not start a run. */
  | { readonly type: 'failing_schedules'; readonly schedules: readonly string[] }
  /** Schedules of a workflow that no live worker has handlers for: their runs start, and wait. */
  | {
      readonly type: 'schedule_without_worker'
      readonly workflow: string
      readonly schedules: readonly string[]
    }
  /**
   * The store refuses something about this run while it accepts others: this process tries it again, alone. `name` is set instead of `runId` for what
   * is no run. Without both, the store refuses each call of this process for `during`.
   */
  | {
      readonly type: 'refused_by_store'
      readonly during: string
      readonly runId: string | undefined
      readonly step: string | undefined
      readonly name: string | undefined
      readonly since: Date
    }
  /** Not all live runs were checked: there may be more findings. */
  | { readonly type: 'partly_checked'; readonly runs: number }

export interface SomeRuns {
  readonly workflow: string
  readonly version: number
  readonly runs: number
  readonly oldest: Date
  /** A few of them, the oldest first. */
  readonly runIds: readonly string[]
}

interface DueSteps {
  readonly workflow: string
  readonly version: number
  /** A thousand stands for a thousand or more. */
  readonly steps: number
  readonly oldest: Date
}

export interface Thresholds {
  readonly pausedMs: number
  readonly failureRate: number
  /** Whether the engine that asks is in development mode. */
  readonly dev?: boolean | undefined
  /** Of derived versions, the version that their code states, by the store's number. */
  readonly derivedFrom?: ReadonlyMap<number, number> | undefined
}

/** The most run ids in a message. */
const NAMED_MAX = 3

/** A few of these runs. */
export function named(runIds: readonly string[]): string {
  const shown = runIds.slice(0, NAMED_MAX).join(', ')
  return runIds.length > NAMED_MAX ? `${shown}, …` : shown
}
