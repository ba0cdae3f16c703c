import type { StoredRunStatus } from '../adapter/lifecycle.ts'
import type { JsonText } from '../adapter/new-item.ts'
import type { StoredMail } from './mail.ts'
import type { StepRow } from './step-row.ts'

/** What a run begins with. */
export interface NewRun {
  /** A uuid that is ordered by time, made by whoever starts the run. */
  readonly id: string
  readonly key: string | null
  readonly input: JsonText
  /** With a key: a hash of the input as its caller gave it. */
  readonly inputHash?: string | null
  readonly tags?: readonly string[]
  /** When it may begin: an instant in epoch milliseconds, or a delay from now. Default: at once. */
  readonly startAt?: number
  readonly startDelayMs?: number
  /** It fails if it has not ended that long after it may begin. */
  readonly deadlineMs?: number
  readonly priority?: number
  /** The run that it was started for, and the number of the unit that did; without a unit, its end did. */
  readonly parent?: { readonly run: string; readonly unit: number | null; readonly detached?: true }
}

/** What all fresh runs of a definition have in common, and those that are to be started. */
export interface NewRuns {
  readonly definition: number
  readonly workflow: string
  /** Rows that say nothing yet but that they are pending. */
  readonly steps: readonly Pick<StepRow, 'no' | 'scope' | 'name'>[]
  readonly runs: readonly NewRun[]
}

/** What became of a start. With a key that was taken, it tells of the run that has it. */
export interface StartedRun {
  readonly id: string
  readonly created: boolean
  /** It was created, and is the caller’s own with fence 1. */
  readonly owned: boolean
  readonly definition: number
  readonly input: JsonText
  readonly inputHash: string | null
}

/** A run’s own row: written at its start, when it turns and at its end. */
export interface RunRow {
  readonly id: string
  readonly definition: number
  readonly workflow: string
  readonly key: string | null
  readonly tags: readonly string[] | null
  readonly input: JsonText
  readonly status: StoredRunStatus
  readonly parent: NewRun['parent'] | null
  readonly createdAt: number
  readonly startAt: number | null
  readonly deadlineAt: number | null
  readonly priority: number
  readonly paused: boolean
  readonly parked: boolean
  /** Why it stopped. */
  readonly cause: JsonText
  readonly finishedAt: number | null
  /** How the machine’s root stands, and what else of the run only it reads; null: it says nothing yet. No store reads it. */
  readonly state: JsonText
}

/** What a commit writes of a run that has turned. */
export interface TurnedRun
  extends Pick<RunRow, 'status' | 'deadlineAt' | 'priority' | 'paused' | 'parked' | 'state' | 'finishedAt'> {
  /** Left out: as before. */
  readonly cause?: JsonText
}

/** A run with what its owner needs to go on with it. */
export interface OwnedRun extends RunRow {
  readonly fence: number
  /** It has begun, which its rows do not say. */
  readonly begun: boolean
  /** Its owner was declared dead: what it may have called may have happened. */
  readonly lost: boolean
  /** Null: nobody has ever owned it, and its rows are those of its definition. */
  readonly steps: readonly StepRow[] | null
  /** What is not applied, in the order in which it was sent. */
  readonly mail: readonly StoredMail[]
}
