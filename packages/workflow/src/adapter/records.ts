import type { ChangedRun } from './changed-run.ts'
import type { RunStatus, StepStatus } from './lifecycle.ts'

/** A payload as JSON text. `null` stands for "no value" (`undefined`); the JSON value null is the text `'null'`. */
export type JsonText = string | null

/** The shape of a definition: what may not change under one version. Steps are in topological order; a step's position is its number. */
export interface DefinitionShape {
  readonly steps: readonly StepShape[]
}

export interface StepShape {
  readonly name: string
  /** Numbers of the steps this one depends on, ascending, each smaller than its own. */
  readonly dependsOn: readonly number[]
  readonly compensate: 'never' | 'completed' | 'started'
  /** What the step waits for; absent for one that works. Only `signal` and `approval` take signals. */
  readonly kind?: WaitKind | undefined
}

export type WaitKind = 'sleep' | 'signal' | 'approval' | 'poll'

export interface DefinitionRecord {
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: DefinitionShape
}

/** A definition as the store holds it: `id` is the store's short number for (name, version). */
export interface SavedDefinition extends DefinitionRecord {
  readonly id: number
  /** It was saved in a caller's transaction, and may be gone when that is rolled back. */
  readonly uncommitted?: boolean | undefined
}

export interface NewRun {
  /** Time-ordered uuid, made by the client. */
  readonly runId: string
  readonly definitionId: number
  readonly workflow: string
  readonly key: string | null
  readonly input: JsonText
  /** Of a run with a key: a hash of what its caller gave as input, before a schema made something of it. Kept with the run. */
  readonly inputHash?: string | null | undefined
  /** When its first steps may begin: an instant, epoch milliseconds, or a delay from now. At once when it has neither, or has passed. */
  readonly startAt?: number | undefined
  readonly startDelayMs?: number | undefined
  /** How long after its start the run fails unless it has ended. */
  readonly deadlineMs?: number | undefined
  /** What it is found by, beside its key: each once, none of them empty. */
  readonly tags?: readonly string[] | undefined
}

/** What became of a {@link NewRun}. When its key was taken, `created` is false and the rest describes the run that has the key. */
export interface StartedRun {
  readonly runId: string
  readonly created: boolean
  readonly definitionId: number
  readonly input: JsonText
  /** Of a run that was not created by this call: the version of its definition, and the hash that is kept with it, if it has one. */
  readonly version?: number | undefined
  readonly inputHash?: string | null | undefined
  /** What was leased of it to the worker that was named; absent when none was, empty when nothing was leased. */
  readonly claims?: readonly Claim[]
}

/** A worker that takes on steps which a call makes ready, and how many of them. */
export interface Lease {
  readonly workerId: string
  readonly handBackMax: number
}

/** Forward attempts run a step's handler, undo attempts its compensation. */
export type Direction = 'forward' | 'undo'

/** Names one attempt of one step, whatever its direction. Every write for an attempt carries it. */
export interface AttemptRef {
  readonly runId: string
  /** The step's number in its definition. */
  readonly step: number
  /**
   * The fencing token, together with the worker's id. Grows with every claim of the step, forward and undo, and with every move by an
   * operator; never repeats. Says nothing of how often a handler ran.
   */
  readonly fence: number
  readonly direction: Direction
  readonly definitionId: number
}

/** The status a step had before its undo began. */
export type UndoneStatus = 'completed' | 'failed' | 'skipped' | 'cancelled'

/** A step leased to a worker. */
export interface Claim extends AttemptRef {
  /** Which effect of the step this is, from 1: part of the idempotency key. Grows when a step that was undone is run again. */
  readonly round: number
  /**
   * The attempt as people count it, this one included: 1, 2, 3 within a round and direction. A handler that may have run before under the same
   * idempotency key has an attempt above 1.
   */
  readonly attempt: number
  /** Failed attempts so far, in this direction: what a retry policy counts. */
  readonly failures: number
  /** Attempts so far that ended with the loss of their worker, in this direction. */
  readonly losses: number
  /** Set on undo claims: what is being undone. */
  readonly undoOf: UndoneStatus | null
  /** The run's input, where the store gives it along to save the worker a `load`. */
  readonly input?: JsonText
}

/** What a claim came to. */
export interface Claimed {
  readonly claims: readonly Claim[]
  /** There may be more to claim at once: the claim stopped at its limit, or before it had looked at everything. */
  readonly more: boolean
}

/** What a finished attempt asks the store to record. */
export type Outcome = AttemptRef &
  (
    | { readonly type: 'completed'; readonly output: JsonText }
    /** Completed with the output that its signal brought, which the store holds. */
    | { readonly type: 'received' }
    /**
     * The step goes on waiting, without a worker, and is claimable again from `wake` on; null for not before a signal. Ends the series of
     * failures and losses. When a signal has come meanwhile the step is ready at once instead.
     */
    | { readonly type: 'waiting'; readonly wake: Wake | null }
    /**
     * Failed for good: the run turns to `compensating` with this cause, unless it already has. A paused run
     * stays paused, and has the cause. `succeeded`: its handler returned, and what
     * it returned cannot be stored. Its effect is there, so the step is undone like a completed one.
     */
    | {
        readonly type: 'failed'
        readonly error: string
        readonly cause: string
        readonly succeeded?: boolean | undefined
      }
    /** Try again, `delayMs` (store clock) from now. Either direction. Counts one failure. */
    | { readonly type: 'retry'; readonly error: string; readonly delayMs: number }
    /**
     * Give the lease back without spending an attempt. Either direction. `begun` is false when its handler was not called: then nothing
     * of the attempt can have taken effect. Left out, it may have been.
     */
    | { readonly type: 'released'; readonly begun?: boolean | undefined }
    | { readonly type: 'compensated' }
    /** The step had nothing to undo and only kept the order: it returns to the status it had (`undoOf`). */
    | { readonly type: 'relayed'; readonly undoOf: UndoneStatus }
    /** The compensation failed for good: the run is parked as `compensation_failed`, a paused one when it is resumed. */
    | { readonly type: 'compensation_failed'; readonly error: string }
  )

/** When a waiting step is due: `afterMs` from the settlement on, or at an instant, epoch milliseconds. Both on the store's clock. */
export type Wake = { readonly afterMs: number } | { readonly at: number }

export interface Settlement {
  /**
   * In the order of the outcomes. `settled`: recorded, now or by an earlier call whose answer was lost.
   * `lost`: the attempt's lease had moved on, and nothing was written for it. `refused`: the store can never take what the outcome holds,
   * for the reason given; nothing was written, and the attempt still holds its step.
   */
  readonly results: readonly ('settled' | 'lost' | { readonly refused: string })[]
  /** Steps that these outcomes made ready and that are now leased to the settling worker. */
  readonly claims: readonly Claim[]
  /** Runs whose status these outcomes changed. */
  readonly runs: readonly ChangedRun[]
  /** True when outcomes made steps ready that were left for any worker to claim. */
  readonly queued: boolean
}

export interface PayloadRequest {
  readonly runId: string
  /** Steps whose output and error are wanted. */
  readonly steps: readonly number[]
}

export interface RunPayloads {
  readonly runId: string
  readonly input: JsonText
  /** JSON text of a {@link RunCause}; null until the run stops. */
  readonly cause: JsonText
  readonly steps: readonly StepPayloads[]
  /** The store's clock when this was read, epoch milliseconds. */
  readonly now: number
}

/** Instants and `succeeded` are those of {@link StepRecord}. */
export interface StepPayloads {
  readonly step: number
  readonly output: JsonText
  readonly error: JsonText
  readonly availableAt: number | null
  readonly waitingSince: number | null
  readonly signalledAt: number | null
  readonly failingSince: number | null
  readonly succeeded: boolean
}

/** Which definition a run follows. */
export interface FoundRun {
  readonly runId: string
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly tags: readonly string[]
}

export interface RunRecord {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly definitionId: number
  readonly key: string | null
  readonly status: RunStatus
  readonly input: JsonText
  readonly cause: JsonText
  /** Epoch milliseconds, store clock. */
  readonly createdAt: number
  readonly finishedAt: number | null
  /** When it may begin, if it was given a start time. */
  readonly startAt: number | null
  /** When it fails unless it has ended by then. */
  readonly deadlineAt: number | null
  /** As they were given; empty for none. */
  readonly tags: readonly string[]
}

export interface StepRecord {
  readonly step: number
  readonly name: string
  readonly status: StepStatus
  readonly fence: number
  /** Which effect of the step this is, from 1. */
  readonly round: number
  /** Of the way forward, as `startedAt`, `finishedAt` and `error` are: attempts of this round, and of a poll those of its newest check. */
  readonly attempts: number
  /** Failed attempts and lost workers since the step was last sent on its way: what its retry policy counts. */
  readonly failures: number
  readonly losses: number
  readonly openDependencies: number
  readonly workerId: string | null
  readonly undoOf: UndoneStatus | null
  readonly output: JsonText
  readonly error: JsonText
  /** When the newest forward attempt was claimed and ended. Epoch milliseconds, store clock. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** Its undo; null while it goes forward, and of a step that had nothing to undo. */
  readonly undo: UndoRecord | null
  /** Of a step that is ready or waiting: when it is due, by a retry's delay or a timer. Null for at once, or for a wait without end. */
  readonly availableAt: number | null
  /** When the step first began to wait. */
  readonly waitingSince: number | null
  /** When the signal came that this step waits for, or will wait for; its payload is the output. */
  readonly signalledAt: number | null
  /** When the first of the newest series of failed attempts began, of either direction; kept when the series has ended. */
  readonly failingSince: number | null
  /** In this round its handler returned what cannot be stored: its effect is there, although the step did not complete. */
  readonly succeeded: boolean
}

/** The undo of a step, beside what its row says of the way forward. Instants are epoch milliseconds, store clock. */
export interface UndoRecord {
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  /** When its newest attempt was claimed and ended. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** The newest error of the compensation. */
  readonly error: JsonText
  /** An operator took it for done. */
  readonly skipped: boolean
}
