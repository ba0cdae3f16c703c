import type { Clock } from '../clock.ts'
import type { ApprovalsRequest, FoundApprovals } from './approvals.ts'
import type { ChangedRun } from './changed-run.ts'
import type { CollectedCalls, CollectedRun, NewCall } from './collected-calls.ts'
import type { HistoryEntry, HistoryRecord, RunChange, RunToChange } from './control.ts'
import type { DatedRun } from './dated-run.ts'
import type { DifferingItems, ItemCount, ItemsToRead } from './items-to-read.ts'
import type { RunStatus } from './lifecycle.ts'
import type { FreesSlots, LimitVerbs } from './limits.ts'
import type { OverviewVerbs } from './overview.ts'
import type { PayloadRequest, RunPayloads } from './payloads.ts'
import type {
  Claim,
  Claimed,
  DefinitionRecord,
  FoundRun,
  Lease,
  Outcome,
  RunResult,
  SavedDefinition,
  Settlement,
  StepRecord,
} from './records.ts'
import type { RecoveredStep } from './recovered-step.ts'
import type { RunFilter } from './run-conditions.ts'
import type { RunEnd, RunEndsRequest, WokenParent } from './run-ends.ts'
import type { ScheduleVerbs } from './schedules.ts'
import type { Delivery, NewSignal } from './signals.ts'
import type { NewRun, StartedRun } from './starts.ts'
import type { Stillness } from './stillness.ts'
import type { KeepsAttempts, KeptAttempt } from './trail.ts'
import type { Transacted, TransactRequest, WithinTransaction } from './transaction.ts'
import type { BegunUndo, DrainedRun, UndoPlan } from './undo.ts'
import type {
  Diagnosis,
  EndedRuns,
  EndedRunsRequest,
  HeldStepRecord,
  NamesRefused,
  NewWorker,
  Renewal,
  Renewed,
  StoreNotice,
  WakeHint,
  WorkerRecord,
} from './upkeep.ts'
import type { ObservedRun, Published, PublishRequest, RunNews, ValueRecord } from './values.ts'

/**
 * The port between the engine and a store.
 *
 * Every verb is one atomic change unless its docstring says otherwise. Most verbs take arrays and return arrays. No verb waits forever. Every write
 * repeats its guards, so a verb may be called late, twice, or by a worker that was declared dead, without harm.
 *
 * Every verb may throw `StoreUnavailableError`. Then its effect is unknown: the engine calls it again, or asks `held`. Every verb that locks rows may
 * throw `StoreContendedError` when another transaction holds a row longer than the adapter's short limit. Then the engine splits the call, so that
 * only the member that needs the row waits.
 *
 * A lease belongs to a worker: `renew` extends one row, and with it every step that the worker holds. A step is held by (worker, fence). When a lease
 * expires, `sweep` first declares the worker dead, so that it can claim nothing more, and then returns its steps to the queue.
 */
export interface Adapter extends ScheduleVerbs, LimitVerbs, OverviewVerbs {
  /** The adapter's name in messages: `'postgres'`, `'pglite'`, `'memory'`. */
  readonly name: string

  /** The clock from which the engine takes its timers. Only stores whose time is virtual have one. */
  readonly clock?: Clock

  /** What a store on a virtual clock knows of its own future. Other stores have none. */
  readonly stillness?: Stillness

  /** True if the store has only one session, like PGlite: while a transaction is open in it, every other verb waits for it to end. */
  readonly singleSession?: boolean

  /**
   * Connects, checks the schema's version and, if the adapter is configured to, migrates the schema. Idempotent. Called before every other verb,
   * except verbs with a `tx`: their caller may hold the last free connection, so the adapter checks the schema in that transaction. Throws
   * `schema_missing`, `schema_outdated`, `schema_too_new`, `store_misconfigured`, `directory_in_use`.
   */
  open(): Promise<void>

  /**
   * Tells the adapter that an engine is in development mode: from now on `open` brings the schema up to date, and says so with a notice, unless the
   * adapter was configured not to. Optional, for adapters that do not always do so.
   */
  allowMigrations?(): void

  /** The store's clock, in epoch milliseconds. With `tx`, it is read in that transaction. */
  now(options?: WithinTransaction): Promise<number>

  /**
   * Inserts missing definitions and returns what the store holds for each (name, version), in order. Never overwrites.
   *
   * With `tx`, it reads in that transaction and never waits for a connection. A missing definition is saved on another connection if one is free,
   * otherwise in the transaction. `uncommitted` marks a definition that may vanish with the transaction.
   */
  saveDefinitions(
    definitions: readonly DefinitionRecord[],
    options?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /**
   * Creates runs with all their steps; their roots are ready. If a run's (workflow, key) is taken, the run that has the key is returned instead, even
   * if another transaction committed it during the call. Results are in order. Throws `missingDefinition()` for a run of an unknown definition, and
   * `refusedStart()` for an input or key that the store can never store.
   *
   * With `tx`, the runs are part of that transaction: they exist once it commits. If another open transaction has taken a key, the call waits for it.
   * The adapter wakes workers when the transaction commits, if it can. Throws `invalid_option` if `tx` is not an open transaction of this store.
   *
   * A run with `limits` takes all of its slots as it is created, or is not created, which `full` answers: if one limit has no slot, not counting those
   * whose holders are gone, unless others wait for them. Those that wait for a slot are not asked. A run that exists already is returned whatever its
   * limits say. With `tx`, the keys of these limits stay locked until that transaction ends.
   *
   * A run with `parentFence` is created only if its parent's step is held under that fence, which stays so until the call has committed; otherwise
   * `lost` answers. A run that exists already is returned all the same.
   *
   * With `lease`, never combined with `tx`, roots that are due are leased to that worker at once if it is live. Runs are considered in the order of
   * their ids, all roots of a run or none, until the next run would exceed `handBackMax`. If the answer is lost, ask `held`.
   */
  startRuns(
    runs: readonly NewRun[],
    options?: WithinTransaction & { readonly lease?: Lease | undefined },
  ): Promise<readonly StartedRun[]>

  /**
   * Collects calls: each becomes part of a run that has not begun, or opens one, as `collectCalls()` decides under the lock of its definition and
   * key. Never changes a run that has begun. A run that takes a call gets higher fences, so that no claim has an earlier input. A call that the
   * store knows by its id is not counted again, and answers `repeated` with the run that carries it: of a run that is no batch, the ids of the
   * last `CALL_IDS_MAX` calls are known. Results are in order, and calls of one key are taken in their order. Throws `missingDefinition()`, and
   * `refusedStart()` for an input or key that the store can never store.
   *
   * With `tx`, the calls are part of that transaction, which keeps the lock of each key and each joined run until it ends. The adapter wakes
   * workers when it commits, if it can. Throws `invalid_option` if `tx` is not an open transaction of this store.
   */
  collectCalls(calls: readonly NewCall[], options?: WithinTransaction): Promise<readonly CollectedRun[]>

  /** The calls that a run carries. Null if there is no such run, or if it carries none. */
  readCollected(runId: string): Promise<CollectedCalls | null>

  /** Registers a worker with a lease. Idempotent for a live worker. */
  registerWorker(worker: NewWorker): Promise<void>

  /**
   * Extends the worker's lease, and with it every step it holds. Returns how many live workers with a free slot share each of its definitions.
   * `lost`: the worker was declared dead and may hold nothing any more. Never waits for other verbs of the same worker.
   */
  renew(renewal: Renewal): Promise<Renewed | 'lost'>

  /** Removes a worker that holds nothing any more from the registry: the last call of a graceful stop. */
  deregisterWorker(worker: { workerId: string }): Promise<void>

  /**
   * Leases up to `limit` ready steps of these definitions to the worker, longest available first. Skips forward steps of stopped runs. Also skips
   * steps whose row is locked; they stay claimable. With `undosOnly`, leases undos alone, and leaves everything else as it is; undos that are not yet
   * at their places in the queue may be missed, and `more` means nothing. Returns `lost` if the worker is unknown or dead.
   */
  claim(
    request: NamesRefused & {
      workerId: string
      definitionIds: readonly number[]
      limit: number
      undosOnly?: boolean
    },
  ): Promise<Claimed | 'lost'>

  /**
   * Everything that this worker holds according to the store, at some moment during the call. May run at any time, concurrently with other verbs: the
   * engine compares the answer with what the worker knows. Its cost depends on what the worker holds, not on the number of live runs. A run of which
   * the store cannot read a row is left out as a whole: nothing is known of its steps.
   */
  held(request: NamesRefused & { workerId: string }): Promise<readonly Claim[]>

  /**
   * Records finished attempts, each guarded by (worker, fence). Each outcome commits atomically with its effects on dependents and on the run;
   * different outcomes of one call may commit separately. Up to `handBackMax` of the steps that become ready are leased to this worker and returned;
   * the rest are queued. If a call is repeated because its answer was lost, outcomes that it had recorded answer `settled`, but the claims are not
   * repeated: ask `held`. An outcome with a value that the store can never store answers `refused`, and the others are still recorded; the engine
   * decides what to record instead. A defect of the adapter is no refusal: it throws.
   */
  settle(
    settlement: KeepsAttempts &
      FreesSlots & {
        readonly workerId: string
        readonly outcomes: readonly Outcome[]
        readonly handBackMax: number
      },
  ): Promise<Settlement>

  /**
   * Runs work in a transaction, records the work's outcome as `settle` does, and commits both together. While the work runs, nothing else of the step
   * is locked. A rollback undoes both. The adapter limits how many run at once, so that other verbs never wait for them; the rest queue.
   *
   * If it throws `StoreUnavailableError` before the work was called, nothing happened. If it throws after the work resolved to an outcome, the effect
   * is unknown: ask `recorded`. Once it has settled, code that the work left running cannot reach the transaction any more.
   */
  transact(request: TransactRequest): Promise<Transacted>

  /**
   * For each of these outcomes, whether the store has recorded it. Asked when a `transact` got no answer to its COMMIT. Waits for a transaction that
   * may still record one of them, so the answer is final.
   */
  recorded(request: { workerId: string; outcomes: readonly Outcome[] }): Promise<readonly boolean[]>

  /**
   * Stores what attempts tell while they run: of each key, the latest value that each step gave it. Each value is guarded by (worker, fence), and is
   * stored apart from the others. A value whose step has a newer one for this key, by fence and sequence, changes nothing and answers `stored`: so
   * calls may be repeated and arrive late. Never waits: a value whose row or whose step is locked answers `busy`. Results are in order.
   */
  publish(request: PublishRequest): Promise<readonly Published[]>

  /** Reads inputs, causes, outputs and errors. Omits unknown runs. */
  load(requests: readonly PayloadRequest[]): Promise<readonly RunPayloads[]>

  /**
   * Declares workers dead whose lease has expired, and returns a bounded number of their steps to the queue, each with one more loss. `more`: call
   * again at once.
   */
  sweep(request: KeepsAttempts & NamesRefused & { readonly limit: number }): Promise<{
    readonly lostWorkers: readonly string[]
    readonly recovered: readonly RecoveredStep[]
    readonly more: boolean
  }>

  /** Returns those of these runs that no longer go forward, paused or not. The signals of their forward handlers must fire. */
  stopping(request: { runIds: readonly string[] }): Promise<readonly string[]>

  /**
   * Cancels the steps that have not begun in stopped runs. Returns the runs with no step in flight whose undo has not begun, oldest first. Looks only
   * at runs of these definitions and, if `runIds` is given, only at these runs. Leaves out paused runs until they are resumed.
   */
  drain(request: {
    definitionIds: readonly number[]
    runIds?: readonly string[] | undefined
    limit: number
  }): Promise<readonly DrainedRun[]>

  /**
   * Begins the undo of drained runs, exactly once per run. A plan changes nothing if its run is paused, is not drained, or is already being undone,
   * or if the plan was made before a failed run was cancelled. Undos with no open dependents become claimable. Up to `handBackMax` of them, over all
   * runs, are leased to the worker at once. Returns the runs that this call changed, with their new status and the claims leased from them. If the
   * answer is lost, ask `held`.
   */
  beginUndo(plans: readonly UndoPlan[], lease?: Lease): Promise<readonly BegunUndo[]>

  /**
   * Cancels runs that go forward, paused ones too: all of them, or none if it throws. Leaves runs alone that are already stopped or have ended. Returns
   * the runs it stopped.
   */
  cancelRuns(request: {
    readonly runIds: readonly string[]
    /** JSON text of the cause. */
    readonly cause: string
    /** `abandonment` skips the undo: every effect stays. Default `cancellation`. */
    readonly stop?: 'cancellation' | 'abandonment' | undefined
    /** Becomes part of the history of each run that this stops. Omitted, the history has no entry. */
    readonly entry?: Omit<HistoryEntry, 'step'> | undefined
  }): Promise<readonly ChangedRun[]>

  /**
   * Changes one run for an operator: locks the run and all its steps, calls `decide` with them, and writes the change it returns, atomically; null
   * writes nothing. `decide` must be pure: the store may call it again when it had to repeat the transaction. If it throws, nothing is written and
   * the error is rethrown. Resolves null if there is no such run.
   *
   * `leavesItems`: the items of maps and the rounds of loops are neither locked nor given to `decide`, unless the run is being undone (`endsAs`).
   * There may be 65,536. So claims of items and this call must exclude each other in another way: see the status of the run under a lock.
   *
   * With `tx`, the change is part of that transaction, which keeps the run locked until it ends. Workers are woken when it commits. Throws
   * `invalid_option` if `tx` is not an open transaction of this store.
   */
  changeRun<Answer extends object>(
    request: KeepsAttempts & {
      readonly runId: string
      readonly leavesItems?: boolean | undefined
      readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
    },
    options?: WithinTransaction,
  ): Promise<Answer | null>

  /** A run's history: operators' actions and received signals. Returns the newest `limit` entries, oldest first. */
  readHistory(request: { readonly runId: string; readonly limit: number }): Promise<readonly HistoryRecord[]>

  /** The kept attempts of a run: the newest `limit`, in the order in which they ended. Attempts under way are not included. */
  readAttempts(request: { readonly runId: string; readonly limit: number }): Promise<readonly KeptAttempt[]>

  /** Definitions by the store's number. Omits unknown ones. With `tx`, also finds definitions saved in it. */
  readDefinitions(
    definitionIds: readonly number[],
    options?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /** A workflow's definition of this version, or of the highest stored version. Null if there is none. With `tx`, also finds one saved in it. */
  findDefinition(
    wanted: { readonly name: string; readonly version?: number | undefined },
    options?: WithinTransaction,
  ): Promise<SavedDefinition | null>

  /**
   * Delivers signals to steps. One commit records each signal by its key, makes it the step's output, and makes the step ready if it waits. A step
   * takes one signal until an operator makes it ask anew: a change that clears a step's `signalledAt` supersedes its signal, and the same key may
   * come again. Results are in order.
   *
   * With `tx`, the signals are part of that transaction, which keeps the steps locked until it ends. Workers are woken when it commits. Throws
   * `invalid_option` if `tx` is not an open transaction of this store, and `refusedSignals()` for a payload or key that the store can never store.
   */
  deliverSignals(signals: readonly NewSignal[], options?: WithinTransaction): Promise<readonly Delivery[]>

  /**
   * Reads a bounded number of the live runs of workflows that have approvals, newest first, and returns their steps that wait for one. Its cost does
   * not depend on other runs.
   */
  findApprovals(request: ApprovalsRequest): Promise<FoundApprovals>

  /** The definition that a run follows, by run id or by workflow and key. Null if there is no such run. With `tx`, also finds runs started in it. */
  findRun(
    run: { readonly runId: string } | { readonly workflow: string; readonly key: string },
    options?: WithinTransaction,
  ): Promise<FoundRun | null>

  /**
   * Stops runs whose deadline has passed, with the deadline as their cause (`deadlineCause`), and cancels their steps that have not begun. Takes the
   * longest overdue first. Paused runs stay paused. Returns the runs it stopped.
   */
  expireRuns(request: NamesRefused & { readonly limit: number }): Promise<readonly ChangedRun[]>

  /**
   * The milliseconds until the next queued step of these definitions that is not due yet becomes due, until the next deadline of any run passes, and
   * until the next schedule is due; negative if it has already passed. Null for neither.
   */
  upcoming(request: { readonly definitionIds: readonly number[] }): Promise<{
    readonly claimInMs: number | null
    readonly deadlineInMs: number | null
    readonly scheduleInMs: number | null
  }>

  /**
   * One run with its steps in order and its values as in `readValues`. Null if there is no such run. With `items`, no other items of maps are read.
   * For a range and for those of each status, the answer counts all items; for those that differ, it says which groups they are, from the same snapshot.
   */
  readRun(
    runId: string,
    items?: ItemsToRead,
  ): Promise<{
    readonly run: DatedRun
    readonly steps: readonly StepRecord[]
    readonly values: readonly ValueRecord[]
    readonly itemCounts?: readonly ItemCount[] | undefined
    readonly differing?: DifferingItems | undefined
  } | null>

  /**
   * A run's values: of each key the latest, by the time when its step gave it, and the progress of each step. Progress first, by step, then values by
   * key. Null if there is no such run.
   */
  readValues(runId: string): Promise<readonly ValueRecord[] | null>

  /** What tells watchers whether they must read these runs again. Omits unknown runs. */
  observeRuns(runIds: readonly string[]): Promise<readonly ObservedRun[]>

  /**
   * Statuses of these runs. Omits unknown runs. With `stored`, scheduled and waiting runs answer `running`: that is cheaper, and enough to know
   * whether a run has ended.
   */
  readStatuses(
    runIds: readonly string[],
    options?: { readonly stored?: boolean },
  ): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]>

  /** What those of these runs gave that have completed, without the items of their maps and loops. Omits all other runs. */
  readResults(runIds: readonly string[]): Promise<readonly RunResult[]>

  /**
   * Runs, newest first: by run id, descending. With `onRefused`, runs that the store cannot read are left out, and count towards `limit`. Without it, one
   * such run makes the call fail.
   */
  listRuns(filter: RunFilter & NamesRefused): Promise<readonly DatedRun[]>

  /**
   * Workers, longest registered first. Default `limit` 10,000. Workers that left are not listed, nor are dead workers whose steps have all been
   * requeued.
   */
  listWorkers(request?: { limit?: number }): Promise<readonly WorkerRecord[]>

  /** The steps that a worker holds, for display, by run and step. An unknown worker holds nothing. */
  listHeld(request: { workerId: string; limit: number }): Promise<readonly HeldStepRecord[]>

  /**
   * The kept ends of runs of these definitions, in the order of their sequence: of runs whose `reportsEnd` is true, one for each time that they ended.
   * An end is there from the commit that ends its run, whoever made it.
   */
  findRunEnds(request: RunEndsRequest): Promise<readonly RunEnd[]>

  /**
   * Makes the steps that started these runs look at them now: steps that wait, forward or in their undo. Locks the steps and then their runs (shared),
   * never waits for a lock, and reads nothing else of a run, however many steps it has. Harmless when repeated, and for a child that has not ended.
   * Answers in the order of the children.
   */
  wakeParents(childIds: readonly string[]): Promise<readonly WokenParent[]>

  /** Forgets ends, because everything that follows from them has been done. Unknown ones are ignored. */
  forgetRunEnds(ends: readonly Pick<RunEnd, 'sequence' | 'definitionId'>[]): Promise<void>

  /** Reads a bounded number of the runs that ended before an instant, longest ended first, and returns those that match. */
  findEnded(request: EndedRunsRequest): Promise<EndedRuns>

  /**
   * Deletes those of these runs that ended before an instant, with everything that belongs to them. A run that was sent forward again stays, and
   * so does a run with an end that is not forgotten. Never waits for a lock: a run that somebody is changing stays too. Returns the runs it deleted.
   */
  prune(request: { runIds: readonly string[]; finishedBefore: number }): Promise<readonly string[]>

  /**
   * Removes the keys of runs that ended before an instant, so that the keys can be used again. Locks like `prune`. Returns the runs that had a key.
   */
  releaseKeys(request: { runIds: readonly string[]; finishedBefore: number }): Promise<readonly string[]>

  /**
   * Names the history of the database. It changes when a standby is promoted or a backup is restored, which may lose the last commits. Null if it cannot be
   * read. Optional, for stores without standbys.
   */
  timeline?(): Promise<string | null>

  /**
   * What may be wrong with the stored runs. Its cost depends on the number of live and recent runs, not on the history. With `onUnread`, a part that the
   * store cannot read is empty. Without it, one such part makes the call fail.
   */
  diagnose(request: {
    overdueMs: number
    recentMs: number
    onUnread?: (part: string, error: unknown) => void
  }): Promise<Diagnosis>

  /**
   * Calls `listener` when work may have become claimable. The hint may be missing, late or wrong. Without a `hint` argument, work of any definition
   * may have. Returns a function that stops it.
   */
  onWake(listener: (hint?: WakeHint) => void): () => void

  /**
   * Tells workers of other processes that work of these definitions may have become claimable; by default, of any. Coalesced, best effort, never
   * throws.
   */
  wake(definitionIds?: readonly number[]): void

  /**
   * Calls `listener` with what other processes tell about the runs that somebody awaits. It may be missing, late or wrong. Optional: without it, ends
   * are found by asking once a tick. Returns a function that stops it.
   */
  onNews?(listener: (news: RunNews) => void): () => void

  /** Tells other processes about runs. Coalesced, best effort, never throws. Optional, together with `onNews`. */
  tell?(news: RunNews): void

  /**
   * Calls `listener` when the adapter has noticed something that an operator should know, such as a pool without a free connection. Optional. Returns
   * a function that stops it.
   */
  onNotice?(listener: (notice: StoreNotice) => void): () => void

  /** Throws `store_misconfigured` if no connection could ever be available for a transactional step. Optional, for adapters where that can happen. */
  checkTransactions?(): void

  /** Closes the connections that the adapter opened. Idempotent. */
  close(): Promise<void>
}
