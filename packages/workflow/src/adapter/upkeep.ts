import type { EndStatus, LiveStatus } from './lifecycle.ts'
import type { Direction } from './records.ts'

/** What a worker states when it registers. */
export interface NewWorker {
  readonly workerId: string
  readonly name: string
  readonly leaseMs: number
  /** How many handlers it runs at once, at most. */
  readonly slots?: number | undefined
  /** Omitted, the adapter uses the machine's name if it knows it. */
  readonly host?: string | undefined
  /** The definitions for which it has handlers. */
  readonly definitionIds?: readonly number[] | undefined
}

/** What a worker reports when it renews its lease. */
export interface Renewal {
  readonly workerId: string
  readonly leaseMs: number
  /** How many handlers it is running. */
  readonly busy?: number | undefined
  /** How many of the steps that the worker knows it holds it has held for longer than one lease. `diagnose` compares this with the store. */
  readonly known?: number | undefined
}

/** What a worker learns when it renews. */
export interface Renewed {
  /** For each definition it registered for: the live workers that have handlers for it and a free slot. This worker always counts. */
  readonly peers: readonly Peers[]
  /** When the store has the worker as renewed now. Epoch milliseconds, store clock. */
  readonly renewedAt: number
  /**
   * The same before this renewal: what the renewal before it was told, or later if an answer was lost. An earlier instant shows that the store has lost
   * commits.
   */
  readonly renewedBefore: number
}

export interface Peers {
  readonly definitionId: number
  readonly count: number
  /** This worker's place among them, in the order of their ids, from 0. */
  readonly rank: number
}

/** What a hint says about the work that may have become claimable. */
export interface WakeHint {
  readonly definitionIds: readonly number[]
  /**
   * A random number from 0 up to but not including 1, drawn by the sender. From it, all who receive the hint compute who looks first, without talking
   * to each other.
   */
  readonly draw: number
}

/** Something that an adapter noticed and an operator should know. */
export interface StoreNotice {
  readonly level: 'info' | 'warn' | 'error'
  /** Stable, for alerts; for example `pool_exhausted`. */
  readonly code: string
  /** What happened, and what to do. */
  readonly message: string
  readonly error?: unknown
}

/** A run of which the store refuses a row, while it accepts others in the same call. */
export interface RefusedRow {
  readonly runId: string
  readonly error: unknown
}

/**
 * A verb over rows that it finds by itself. If the store refuses one of them, for whatever reason, the verb leaves out that one, tells `onRefused`, and
 * goes on with the others. It throws only if it can do nothing at all.
 */
export interface NamesRefused {
  readonly onRefused?: ((refused: RefusedRow) => void) | undefined
}

/** A worker's row in the registry. Instants are epoch milliseconds, store clock. Null means that the worker never reported it. */
export interface WorkerRecord {
  readonly workerId: string
  readonly name: string
  /** `dead`: it was declared dead, and its steps are being requeued. */
  readonly status: 'live' | 'dead'
  readonly startedAt: number | null
  /** When it last renewed its lease. */
  readonly renewedAt: number | null
  /** Null once it has given up its lease. */
  readonly leaseExpiresAt: number | null
  readonly slots: number | null
  /** How many handlers it was running when it last renewed. */
  readonly busy: number | null
  readonly host: string | null
  readonly definitionIds: readonly number[] | null
  /** The same definitions by name, ascending. */
  readonly workflows: readonly { readonly name: string; readonly version: number }[] | null
}

/** A step that a worker holds. */
export interface HeldStepRecord {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly step: number
  readonly name: string
  readonly attempt: number
  readonly direction: Direction
  /** When the attempt was claimed. */
  readonly since: number
}

export interface EndedRunsRequest {
  /** Only runs that ended before this instant. Epoch milliseconds, store clock. */
  readonly finishedBefore: number
  readonly statuses: readonly EndStatus[]
  /** Only runs of any of these workflows. */
  readonly workflow?: readonly string[] | undefined
  /** Only runs with all of these tags; never empty. */
  readonly tags?: readonly string[] | undefined
  /** Only runs that still have their key. */
  readonly keyed?: boolean | undefined
  /** The `cursor` of an earlier answer; null begins with the run that ended first. */
  readonly after: string | null
  readonly limit: number
}

/** One page of the ended runs, longest ended first. */
export interface EndedRuns {
  readonly runIds: readonly string[]
  /** Where the next page begins. It also passes runs that were read and don't match, so later walks need not read them again. */
  readonly cursor: string | null
  /** There may be more; ask for them at once. */
  readonly more: boolean
}

/** What a store knows about its own health. Every part is bounded. */
export interface Diagnosis {
  readonly now: number
  /** The adapter's name, and what else distinguishes this store from others, for people. */
  readonly store: Readonly<Record<string, string>>
  readonly workers: readonly WorkerRecord[]
  /** Live runs by definition and stored status: the oldest and the newest, up to a limit of each. */
  readonly liveRuns: readonly LiveRuns[]
  /** There are more live runs than were read. */
  readonly moreLiveRuns: boolean
  /** Steps overdue for longer than `overdueMs`, by definition. Counts at most a thousand steps of each. */
  readonly overdueSteps: readonly OverdueSteps[]
  /** Steps in the oldest live runs that nothing would ever move, which means that an invariant is broken. At most a hundred. */
  readonly strandedSteps: readonly StrandedStep[]
  /** Live workers that have held more steps for longer than two leases than they knew of when they last renewed. */
  readonly unknownLeases: readonly UnknownLeases[]
  /** What was started and what ended within `recentMs`, by definition, in the order of its name and version. */
  readonly recentRuns: readonly RecentRuns[]
}

/** Counts at least the newest thousand runs that were started, of all definitions together, and as many that ended. */
export interface RecentRuns {
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly started: number
  /** Since when starts were counted: `recentMs` ago, or later if there were too many. */
  readonly startedSince: number
  readonly ended: number
  /** Since when ends were counted. */
  readonly endedSince: number
  /** Those that ended because a step failed, or because they missed their deadline. */
  readonly failed: number
  /** The step that failed in most of them, the first by name of several; null if none did. */
  readonly failedStep: string | null
  /** A few of them, the one that ended last first. */
  readonly failedRunIds: readonly string[]
}

export interface UnknownLeases {
  readonly workerId: string
  readonly name: string
  /** Steps that it has held for longer than two leases. */
  readonly held: number
  /** Steps it knew of when it last renewed, of those that it had held for longer than one lease. */
  readonly known: number
}

export interface LiveRuns {
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly status: LiveStatus
  readonly runs: number
  /** The oldest of them: for paused runs, the time an operator last touched it; for others, its start. */
  readonly oldestSince: number
  /** A few of these runs, oldest first. */
  readonly runIds: readonly string[]
}

export interface OverdueSteps {
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly steps: number
  readonly oldestDueAt: number
}

export interface StrandedStep {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly name: string
  /**
   * `unqueued`: claimable, but not queued. `unheld`: leased to a worker that is not registered. `childless`: waits for a child that was deleted, or
   * that ended more than `overdueMs` ago.
   */
  readonly fault: 'unqueued' | 'unheld' | 'childless'
}
