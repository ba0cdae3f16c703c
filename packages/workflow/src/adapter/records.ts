import type { CaseCondition } from './case-condition.ts'
import type { ChangedRun } from './changed-run.ts'
import type { RunStatus, StepStatus } from './lifecycle.ts'
import type { LimitEntry } from './limits.ts'
import type { MapKind } from './map-kind.ts'
import type { JsonText, NewItem } from './new-item.ts'
import type { ParentRun } from './run-ends.ts'
import type { StartShape } from './start-shape.ts'

export type { JsonText, NewItem } from './new-item.ts'

/** The shape of a definition: it may not change within one version. Steps are in topological order; a step's position is its number. */
export interface DefinitionShape extends StartShape {
  readonly steps: readonly StepShape[]
  /** Each end of a run starts a follow-up: its runs report their ends. */
  readonly endSteps?: true | undefined
  /** The priority of runs that are started without one, by a process that has not the code. Absent for 0. Not part of the checksum. */
  readonly priority?: number | undefined
  /** Of a shape that development mode stored under a number of its own: the version that its code states. Not part of the checksum. */
  readonly derivedFrom?: number | undefined
}

export interface StepShape {
  readonly name: string
  /** Numbers of the steps on which this one depends: ascending, each smaller than its own. */
  readonly dependsOn: readonly number[]
  readonly compensate: 'never' | 'completed' | 'started'
  /**
   * What the step waits for, `choose`, or its part in a map or a loop; absent if it works. Only `signal` and `approval` take signals. Of a `map`
   * and of a `repeat`, `compensate` is about the items.
   */
  readonly kind?: WaitKind | MapKind | 'choose' | undefined
  /** The cases of a step of kind `choose`, sorted. */
  readonly cases?: readonly string[] | undefined
  /** When the step runs: if its function says so, or if each of these choices has one of these cases. Absent if always. */
  readonly when?: 'function' | readonly CaseCondition[] | undefined
  /** `run`: the step runs although a dependency was skipped. Absent: it is then skipped too. */
  readonly onSkipped?: 'run' | undefined
  /** `continue`: if the step fails for good, the run goes on. Absent: the run stops. Of a `map`, it is about its items. */
  readonly onFailure?: 'continue' | undefined
  /** Of a `map`: one compensation undoes all its items, as the undo of this step. Absent: each item has an undo of its own. */
  readonly compensateAll?: true | undefined
  /** Of a `map`: each item runs a child. Absent: each runs a handler. */
  readonly children?: true | undefined
  /** Nothing can undo its effect; of a `map`, the effects of its items. Absent for false. */
  readonly irreversible?: boolean | undefined
  /** Once it has completed, its run goes forward only: every other step comes before or after it. Absent for false. */
  readonly pivot?: boolean | undefined
  /** Added to the priority of its run. Absent for 0. Not part of the checksum. */
  readonly priority?: number | undefined
}

export type WaitKind = 'sleep' | 'signal' | 'approval' | 'poll' | 'child'

export interface DefinitionRecord {
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: DefinitionShape
}

/** A definition as stored: `id` is the store's short number for (name, version). */
export interface SavedDefinition extends DefinitionRecord {
  readonly id: number
  /** It was saved in a caller's transaction, and vanishes if that rolls back. */
  readonly uncommitted?: boolean | undefined
}

/** The worker to which a call may lease steps that it makes ready, and how many. */
export interface Lease {
  readonly workerId: string
  readonly handBackMax: number
}

/** A forward attempt runs a step's handler, an undo attempt its compensation. */
export type Direction = 'forward' | 'undo'

/** Identifies one attempt of one step, in either direction. Every write for an attempt carries it. */
export interface AttemptRef {
  readonly runId: string
  /** The step's number in its definition; for an item of a map, its `itemNumber()`. */
  readonly step: number
  /**
   * The fencing token, together with the worker's id. Grows with every claim of the step, forward and undo, and with every move by an operator; never
   * repeats. It does not tell how often a handler ran.
   */
  readonly fence: number
  readonly direction: Direction
  readonly definitionId: number
}

/** The status a step had before its undo began. */
export type UndoneStatus = 'completed' | 'failed' | 'skipped' | 'cancelled'

/** A step leased to a worker. */
export interface Claim extends AttemptRef {
  /** Which effect of the step this is, from 1; part of the idempotency key. Grows when a step that was undone runs again. */
  readonly round: number
  /**
   * The attempt's number as users see it, from 1 within a round and direction. Above 1, a handler may have run before under the same idempotency key.
   */
  readonly attempt: number
  /** Earlier failed attempts in this direction; the retry policy counts them. */
  readonly failures: number
  /** Earlier attempts in this direction that ended with the loss of their worker. */
  readonly losses: number
  /** Only on undo claims: the status that is being undone. */
  readonly undoOf: UndoneStatus | null
  /** The run's input, if the store includes it to save the worker a `load`. */
  readonly input?: JsonText | undefined
  /** Only of an item of a map: the item, if the store includes it to save the worker a `load`. */
  readonly item?: NewItem | undefined
  /**
   * How long the step had been due when it was claimed, in milliseconds, by the store's clock. That of a step which waited for a slot of a limit counts
   * from when it was parked. Omitted where the store does not know it: then it was handed over at once.
   */
  readonly waitedMs?: number | undefined
}

/** The answer to a claim. */
export interface Claimed {
  readonly claims: readonly Claim[]
  /** There may be more to claim at once: the claim reached its limit, or stopped before it had read everything. */
  readonly more: boolean
}

/** What the store must record for a finished attempt. */
export type Outcome = AttemptRef &
  (
    | { readonly type: 'completed'; readonly output: JsonText }
    /** Completed with its signal's payload, which the store holds, as output. */
    | { readonly type: 'received' }
    /**
     * A `map` completed with these items, at most `ITEMS_MAX`: each becomes a row of the run, in this order, and the `join` waits for them all. The
     * first `atOnce` are ready, and every item that completes makes the next one ready; null for all at once. Adds no rows to a run that is
     * stopping.
     */
    | { readonly type: 'expanded'; readonly items: readonly NewItem[]; readonly atOnce: number | null }
    /**
     * A round of a loop completed, and another one follows. That becomes a row of the run, with `nextItem`, from `delayMs` after the settlement on.
     * Its fence begins at the fence of this round, so that fences never repeat. The `join` goes on waiting. In a run that is stopping, the next round
     * is added as cancelled, as if the run had been stopped between the two rounds.
     */
    | {
        readonly type: 'repeated'
        readonly output: JsonText
        readonly nextItem: NewItem
        readonly delayMs: number
      }
    /**
     * Skipped by the definition: the step has no output, and its dependents are counted down like those of a completed step. `branch` is JSON text
     * of a `SkippedBranch`.
     */
    | { readonly type: 'skipped'; readonly branch: string }
    /**
     * The step's `when` was true, and its handler may begin. The attempt goes on: it keeps its step and its fence, and settles again. `branch` is
     * JSON text of a `Branch`.
     */
    | { readonly type: 'decided'; readonly branch: string }
    /**
     * The handler may begin once each of these limits has a slot for it: all at once, or none. If they have, the attempt goes on, as after `decided`.
     * If not, the step is parked, and its result says so: it is released like one whose handler was not called, but no claim finds it until it has
     * got its slots. Asking again, because the answer was lost, takes nothing twice.
     *
     * If an entry that has no slot says what to do then (`ifFull`), nothing is parked: in the same commit the step is skipped, or its run is cancelled
     * and the step is released. If several do, one of the run goes first, then the first by limit and key. Such entries don't stand in line: they look
     * only at whether a slot is free. A step is not skipped as long as its run waits for a slot.
     */
    | { readonly type: 'enters'; readonly entries: readonly LimitEntry[] }
    /**
     * The step continues to wait, without a worker, and is claimable again from `wake` on; null waits for a signal only. Resets the counts of
     * failures and losses. If a signal has come meanwhile, the step is ready at once.
     */
    | { readonly type: 'waiting'; readonly wake: Wake | null }
    /**
     * Failed for good. The run becomes `compensating` with this cause unless it already is. A paused run stays paused and stores the cause.
     * `succeeded`: the handler returned, but its result cannot be stored. The effect is there, so the step is undone like a completed one.
     *
     * `continues`: the run goes on instead. The step's dependents are counted down like those of a completed step, and of an item the next one
     * becomes ready. Never of the `map` that decides items. In a run that goes forward, every failed step is one past which
     * it continued, or one that failed after a pivot.
     */
    | ({ readonly type: 'failed'; readonly error: string; readonly succeeded?: boolean | undefined } & (
        | {
            readonly cause: string
            readonly continues?: undefined
            /**
             * The pivots before the step. If one of them has completed, the run is not stopped: it goes on, shown as `parked`, until an operator
             * retries or skips the step. Such a pivot cannot change while an attempt holds the step.
             */
            readonly pivots?: readonly number[] | undefined
          }
        | { readonly continues: true; readonly cause?: undefined; readonly pivots?: undefined }
      ))
    /** Try again `delayMs` from now, on the store's clock. Counts one failure. Both directions. */
    | { readonly type: 'retry'; readonly error: string; readonly delayMs: number }
    /**
     * Give the lease back without counting a failure. Both directions. `begun: false` says that the handler was not called, so nothing of the
     * attempt can have taken effect. Omitted, it may have been called. With `delayMs`, the step is claimable again only that long from now: so an
     * undo waits without a worker. Default 0.
     */
    | {
        readonly type: 'released'
        readonly begun?: boolean | undefined
        readonly delayMs?: number | undefined
      }
    | { readonly type: 'compensated' }
    /**
     * The relay had nothing to undo: it returns to the status it had (`undoOf`). `joins`: it is the `join` of a map, so the undos of the items may
     * begin. The store need not look that up.
     */
    | { readonly type: 'relayed'; readonly undoOf: UndoneStatus; readonly joins?: boolean | undefined }
    /** The compensation failed for good: the run is parked as `compensation_failed`; if it is paused, when it is resumed. */
    | { readonly type: 'compensation_failed'; readonly error: string }
  )

/** When a waiting step is due: `afterMs` after the settlement, or at an instant in epoch milliseconds. Store clock. */
export type Wake = { readonly afterMs: number } | { readonly at: number }

export type SettledAs =
  | 'settled'
  | 'lost'
  | 'parked'
  | { readonly full: LimitEntry }
  | { readonly refused: string }

export interface Settlement {
  /**
   * In the order of the outcomes. `settled`: recorded, now or by an earlier call whose answer was lost. `lost`: the attempt no longer held its step;
   * nothing was written for it. `parked`: the step of an attempt that `enters` waits for a slot, and the attempt is over. `full`: this entry of an
   * attempt that `enters` has no slot, what it says for that case (`ifFull`) is recorded, and the attempt is over; if an earlier call recorded it,
   * whose answer was lost, the result is `parked`. `refused`: the store can never store this outcome, for the given reason; nothing was written, and
   * the attempt still holds its step.
   */
  readonly results: readonly SettledAs[]
  /** Steps that these outcomes made ready and that are now leased to the same worker. */
  readonly claims: readonly Claim[]
  /** Runs whose status these outcomes changed. */
  readonly runs: readonly ChangedRun[]
  /** True if outcomes made steps ready that were queued for any worker to claim. */
  readonly queued: boolean
}

/** Which definition a run follows. */
export interface FoundRun {
  readonly runId: string
  readonly definitionId: number
  readonly workflow: string
  readonly version: number
  readonly tags: readonly string[]
  readonly parent: ParentRun | null
  /** Epoch milliseconds, store clock. Null without a deadline, and for a run that a caller's open transaction starts. */
  readonly deadlineAt: number | null
  /** Absent for 0. */
  readonly priority?: number | undefined
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
  /** When the run may begin, if it has a start time. */
  readonly startAt: number | null
  /** The run fails if it has not ended by then. */
  readonly deadlineAt: number | null
  /** As given; empty for none. */
  readonly tags: readonly string[]
  /** The run that this one was started for. */
  readonly parent: ParentRun | null
  /** Absent for 0. */
  readonly priority?: number | undefined
}

/** What a completed run gave. */
export interface RunResult {
  readonly runId: string
  readonly definitionId: number
  /** Every step that is no item, in order. */
  readonly steps: readonly ResultOfStep[]
}

/** The part of a step's record that tells what the step gave. */
export type ResultOfStep = Pick<StepRecord, 'step' | 'status' | 'branch' | 'output' | 'error'>

export interface StepRecord {
  readonly step: number
  readonly name: string
  readonly status: StepStatus
  readonly fence: number
  /** Which effect of the step this is, from 1. */
  readonly round: number
  /** Forward attempts of this round; for a poll, of its newest check. `startedAt`, `finishedAt` and `error` are about the forward direction too. */
  readonly attempts: number
  /** Failed attempts, which the retry policy counts, and lost workers. A wait resets both, and so does sending the run forward again. */
  readonly failures: number
  readonly losses: number
  readonly openDependencies: number
  readonly workerId: string | null
  readonly undoOf: UndoneStatus | null
  readonly output: JsonText
  readonly error: JsonText
  /** When the newest forward attempt was claimed, and when it ended. Epoch milliseconds, store clock. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** The step's undo; null while the step goes forward, or if it had nothing to undo. */
  readonly undo: UndoRecord | null
  /** When a ready or waiting step is due, after a retry's delay or by a timer. Null means at once, or a wait without a timeout. */
  readonly availableAt: number | null
  /** When the step first began to wait. */
  readonly waitingSince: number | null
  /** When the signal came that this step waits for, or will wait for. Its payload is the output. */
  readonly signalledAt: number | null
  /** When the first attempt of the newest series of failures began, in either direction. Kept after the series has ended. */
  readonly failingSince: number | null
  /** In this round the handler returned a result that cannot be stored: its effect is there, although the step did not complete. */
  readonly succeeded: boolean
  /** JSON text of a `Branch`: whether the step runs, once its definition has decided that in this round. Null before, and without a `when`. */
  readonly branch: JsonText
  /** True if its definition says that nothing can undo its effect; else absent. Only reads of a whole run tell it. */
  readonly irreversible?: boolean | undefined
  /** Only of an item of a map: its key. Its `name` is the map's, with the key in brackets. */
  readonly itemKey?: string | undefined
  /** The run's and the step's own together. Absent for 0. */
  readonly priority?: number | undefined
  /** Only of the `join` of a map that limits how many items are under way at a time, once the map has decided them. */
  readonly turns?: Turns | undefined
}

/** In which order the items of a map begin. */
export interface Turns {
  /** The limit. */
  readonly atOnce: number
  /** The position in `order` of the item that the next end of an item makes ready. In a paused run, greater by {@link HELD_TURNS}. */
  readonly nextItem: number
  /**
   * Indexes of items. Null for all of them, in their order: then `nextItem` is an index. A map has another order once an operator's action left items
   * that wait for their turn, with others between them that have ended: those that wait.
   */
  readonly order: readonly number[] | null
}

/** The undo of a step. Instants are epoch milliseconds, store clock. */
export interface UndoRecord {
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  /** When the newest undo attempt was claimed, and when it ended. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** The newest error of the compensation. */
  readonly error: JsonText
  /** An operator skipped the undo and counts it as done. */
  readonly skipped: boolean
}
