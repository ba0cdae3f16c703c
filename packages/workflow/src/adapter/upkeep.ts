import type { EndStatus, LiveStatus } from './lifecycle.ts'
import type { Direction } from './records.ts'

/** What a worker says of itself when it registers. */
export interface NewWorker {
  readonly workerId: string
  readonly name: string
  readonly leaseMs: number
  /** Handlers it runs at once at most. */
  readonly slots?: number | undefined
  /** Left out, the adapter fills in the machine's name where it can know it. */
  readonly host?: string | undefined
  /** What it has handlers for. */
  readonly definitionIds?: readonly number[] | undefined
}

/** A worker's sign of life. */
export interface Renewal {
  readonly workerId: string
  readonly leaseMs: number
  /** How many handlers it runs. */
  readonly busy?: number | undefined
  /** Of the steps it knows that it holds, how many it has held for longer than one lease: for whoever compares that with the store. */
  readonly known?: number | undefined
}

/** What a worker learns when it renews. */
export interface Renewed {
  /** For each definition it registered for, the live workers that have handlers for it and a free slot, this one always counted. */
  readonly peers: readonly Peers[]
}

export interface Peers {
  readonly definitionId: number
  readonly count: number
  /** This worker's place among them, in the order of their ids, from 0. */
  readonly rank: number
}

/** What a hint says of the work that may have become claimable. */
export interface WakeHint {
  readonly definitionIds: readonly number[]
  /** A number that the sender drew, from 0 up to 1: with it those who are told agree on who looks first, without talking to each other. */
  readonly draw: number
}

/** Something that an adapter noticed, and an operator should know. */
export interface StoreNotice {
  readonly level: 'info' | 'warn' | 'error'
  /** Stable, for alerts; like `pool_exhausted`. */
  readonly code: string
  /** What happened, and what to do. */
  readonly message: string
  readonly error?: unknown
}

/** A worker as the registry has it. Instants are epoch milliseconds of the store's clock; null stands for what it never said. */
export interface WorkerRecord {
  readonly workerId: string
  readonly name: string
  /** `dead`: it was declared so, and the steps it held are being given to others. */
  readonly status: 'live' | 'dead'
  readonly startedAt: number | null
  /** The last sign of life. */
  readonly renewedAt: number | null
  /** Null when it has given its lease up. */
  readonly leaseExpiresAt: number | null
  readonly slots: number | null
  /** Handlers that ran when it last renewed. */
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
  /** Epoch milliseconds, store clock. Only runs that ended earlier. */
  readonly finishedBefore: number
  readonly statuses: readonly EndStatus[]
  /** Only runs of any of these workflows. */
  readonly workflow?: readonly string[] | undefined
  /** Only runs with all of these tags; never empty. */
  readonly tags?: readonly string[] | undefined
  /** Only runs that still have their key. */
  readonly keyed?: boolean | undefined
  /** Where an earlier answer ended; null begins with the run that ended first. */
  readonly after: string | null
  readonly limit: number
}

/** One part of a walk over the runs that have ended, longest ended first. */
export interface EndedRuns {
  readonly runIds: readonly string[]
  /** Where to go on. Also past runs that were looked at and not asked for, so that a later walk need not look at them again. */
  readonly cursor: string | null
  /** There may be more at once. */
  readonly more: boolean
}

/** What a store knows of its own health. Every part is bounded; see each. */
export interface Diagnosis {
  readonly now: number
  /** The adapter's name, and whatever else tells one store from another, for people. */
  readonly store: Readonly<Record<string, string>>
  readonly workers: readonly WorkerRecord[]
  /** Runs that have not ended, the oldest up to a limit, by definition and stored status. */
  readonly liveRuns: readonly LiveRuns[]
  /** There are more live runs than were looked at. */
  readonly moreLiveRuns: boolean
  /** By definition, what is due for longer than asked for; at most a thousand steps of each are counted. */
  readonly overdueSteps: readonly OverdueSteps[]
  /** Steps that nothing would ever move, in the oldest live runs: a broken invariant. At most a hundred. */
  readonly strandedSteps: readonly StrandedStep[]
  /** Live workers that hold more steps for longer than two leases than they said that they know of, at their last renewal. */
  readonly unknownLeases: readonly UnknownLeases[]
}

export interface UnknownLeases {
  readonly workerId: string
  readonly name: string
  /** Steps that it has held for longer than two leases. */
  readonly held: number
  /** How many it knew of, of those that it had held for longer than one. */
  readonly known: number
}

export interface LiveRuns {
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly status: LiveStatus
  readonly runs: number
  /** Of paused runs when an operator last touched one, else when one was started: the oldest of them. */
  readonly oldestSince: number
  /** A few of them, the oldest first. */
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
  /** `unqueued`: claimable, and in no queue. `unheld`: leased to a worker that is not registered. */
  readonly fault: 'unqueued' | 'unheld'
}
