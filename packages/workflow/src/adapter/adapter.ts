import type { Clock } from '../clock.ts'
import type { ApprovalsRequest, FoundApprovals } from './approvals.ts'
import type { ChangedRun } from './changed-run.ts'
import type { HistoryEntry, HistoryRecord, RunChange, RunToChange } from './control.ts'
import type { RunStatus } from './lifecycle.ts'
import type {
  Claim,
  Claimed,
  DefinitionRecord,
  FoundRun,
  Lease,
  NewRun,
  Outcome,
  PayloadRequest,
  RunPayloads,
  RunRecord,
  SavedDefinition,
  Settlement,
  StartedRun,
  StepRecord,
} from './records.ts'
import type { RunCount, RunCountRequest, RunFilter } from './run-conditions.ts'
import type { Delivery, NewSignal } from './signals.ts'
import type { KeepsAttempts, KeptAttempt } from './trail.ts'
import type { Transacted, TransactRequest, WithinTransaction } from './transaction.ts'
import type { BegunUndo, DrainedRun, UndoPlan } from './undo.ts'
import type {
  Diagnosis,
  EndedRuns,
  EndedRunsRequest,
  HeldStepRecord,
  NewWorker,
  Renewal,
  Renewed,
  StoreNotice,
  WakeHint,
  WorkerRecord,
} from './upkeep.ts'

/**
 * The port between the engine and a store.
 *
 * Every verb is one atomic change (all of it or nothing, unless it says otherwise), takes arrays and returns arrays. Every verb may throw
 * `StoreUnavailableError`; then its effect is unknown, and the engine repeats it or asks (`held`). Every verb that locks rows may throw
 * `StoreContendedError`: somebody else holds one of the rows it needs, and has not let go of it within the adapter's short limit; the
 * engine then sends the members of the call apart, so that only the one that needs the row waits. No verb waits without an end. Verbs
 * repeat their guards in every write, so that any of them may be called late, twice, or by a worker that was presumed dead, without harm.
 *
 * Leases belong to workers: `renew` extends one row, and every step the worker holds with it. A step is held by (worker, fence).
 * When a worker's lease expires, `sweep` declares it dead first, which no claim can overtake, and then gives its steps to others.
 */
export interface Adapter {
  /** For messages: `'postgres'`, `'pglite'`, `'memory'`. */
  readonly name: string

  /** A clock that the engine should take its timers from; given by stores whose time is virtual. */
  readonly clock?: Clock

  /**
   * True when the store has one session, as PGlite has: while a transaction is open in it, every other verb waits for that to end.
   */
  readonly singleSession?: boolean

  /**
   * Connects, checks the schema's version and, where the adapter is set to, migrates it. Idempotent; called before every other verb, but
   * for those that are given a `tx`: its caller may hold the last connection there is, so the adapter sees to itself then.
   * Throws `schema_missing`, `schema_outdated`, `schema_too_new`, `store_misconfigured`, `directory_in_use`.
   */
  open(): Promise<void>

  /** The store's clock, epoch milliseconds. With `tx` asked in that transaction. */
  now(options?: WithinTransaction): Promise<number>

  /**
   * Inserts definitions that are not there yet; returns what the store holds for each (name, version), in order. Never overwrites.
   * With `tx` that transaction is asked first, and never waits for a connection: what is missing is saved beside it or, where that would
   * have to wait, as part of it. What is not certain to outlive it is marked `uncommitted`.
   */
  saveDefinitions(
    definitions: readonly DefinitionRecord[],
    options?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /**
   * Creates each run with all its step rows, roots ready. A run whose (workflow, key) is taken is not created; the holder is returned in
   * its place, also when the holder was committed by another transaction during the call. Results are in order. Throws `missingDefinition()` for a
   * run of an unknown definition, and `refusedStart()` for an input or key that it can never store.
   *
   * With `tx` the runs are part of that transaction: there once it is committed, and never when it is rolled back. A key that an open
   * transaction has taken is waited for. The adapter itself wakes workers when such a transaction commits, if it can.
   * Throws `invalid_option` for what is no open transaction of this store.
   *
   * With `lease`, which never comes with `tx`, roots that are due are leased to that worker at once, if it is live: run by run in the order
   * of their ids, all roots of a run or none, until the next run's would exceed `handBackMax`. When the answer is lost, ask `held`.
   */
  startRuns(
    runs: readonly NewRun[],
    options?: WithinTransaction & { readonly lease?: Lease | undefined },
  ): Promise<readonly StartedRun[]>

  /** Registers a worker with a lease. Idempotent for a live worker. */
  registerWorker(worker: NewWorker): Promise<void>

  /**
   * Extends the worker's lease, and with it all the steps it holds, and tells which idle workers it shares its definitions with.
   * `lost`: it was declared dead and may hold nothing any more. Never waits behind the worker's own other verbs.
   */
  renew(renewal: Renewal): Promise<Renewed | 'lost'>

  /** Forgets a worker that holds nothing any more: the last word of a graceful stop. */
  deregisterWorker(worker: { workerId: string }): Promise<void>

  /**
   * Leases up to `limit` ready steps of these definitions to the worker, longest available first. Steps of runs that are being stopped are
   * not claimed forward; steps whose row somebody has locked are passed over, and stay claimable. Returns `lost` when the worker is unknown
   * or dead.
   */
  claim(request: {
    workerId: string
    definitionIds: readonly number[]
    limit: number
  }): Promise<Claimed | 'lost'>

  /**
   * Everything that the store says this worker holds, as of some moment during the call. May be asked at any time, beside other verbs: the
   * engine compares it continually with what the worker knows. Costs as much as the worker holds, however many runs are live.
   */
  held(request: { workerId: string }): Promise<readonly Claim[]>

  /**
   * Records finished attempts, each guarded by (worker, fence). For each outcome its effects on dependents and on the run commit
   * together with it; different outcomes of one call may commit apart. Of the steps that become ready, up to `handBackMax` are leased to
   * this worker and returned; the rest are left to be claimed. Repeating a call whose answer was lost returns `settled` for what it had
   * recorded, but not the claims: ask `held`. An outcome with a value that the store can never keep does not hinder the
   * others: it answers `refused` for that one, and the engine decides what to record in its stead. A defect of the adapter is no refusal: it throws.
   */
  settle(
    settlement: KeepsAttempts & {
      readonly workerId: string
      readonly outcomes: readonly Outcome[]
      readonly handBackMax: number
    },
  ): Promise<Settlement>

  /**
   * Runs work in a transaction, records the outcome it resolves to as `settle` does, and commits both together; nothing else of the step is
   * locked while the work goes on. Rolled back, nothing is left of either. No more of these run at once than the adapter allows, so
   * that other verbs never wait for them; the rest wait their turn.
   *
   * Throws `StoreUnavailableError` before the work was called: nothing happened. After it had resolved to an outcome: its effect is unknown;
   * ask `recorded`. What the work leaves behind cannot reach the transaction once this has resolved.
   */
  transact(request: TransactRequest): Promise<Transacted>

  /**
   * Of these outcomes, whether the store holds them: asked when the end of a `transact` was not answered. Waits for a transaction that is
   * still to record one of them, so that the answer is final.
   */
  recorded(request: { workerId: string; outcomes: readonly Outcome[] }): Promise<readonly boolean[]>

  /** Reads inputs, causes, outputs and errors. Unknown runs are left out. */
  load(requests: readonly PayloadRequest[]): Promise<readonly RunPayloads[]>

  /**
   * Declares workers dead whose lease has expired, and gives a bounded number of the steps of dead workers back as ready, each with one
   * more loss. `more` tells that there is more to do at once.
   */
  sweep(request: KeepsAttempts & { readonly limit: number }): Promise<{
    readonly lostWorkers: readonly string[]
    readonly recovered: readonly Omit<Claim, 'failures' | 'undoOf'>[]
    readonly more: boolean
  }>

  /** Of these runs, those that no longer go forward, paused or not: their forward handlers are to be signalled. */
  stopping(request: { runIds: readonly string[] }): Promise<readonly string[]>

  /**
   * Cancels what has not started in runs that are to be undone, and returns those in which nothing is in flight any more and whose undo
   * has not begun, oldest first; only runs of these definitions and, when given, only these runs. Paused ones wait for their resumption.
   */
  drain(request: {
    definitionIds: readonly number[]
    runIds?: readonly string[] | undefined
    limit: number
  }): Promise<readonly DrainedRun[]>

  /**
   * Begins the undo of drained runs, exactly once per run: a plan for a run whose undo has begun, that is not drained, or that is paused,
   * changes nothing; nor does one that was made before a failed run was cancelled.
   * Undos with no open dependents become claimable; up to `handBackMax` of them, of all runs together, are leased to the worker at once.
   * Returns the runs that this call moved, with their new status and what was leased of them. When the answer is lost, ask `held`.
   */
  beginUndo(plans: readonly UndoPlan[], lease?: Lease): Promise<readonly BegunUndo[]>

  /**
   * Stops runs that go forward with a cancellation, paused ones too; those that are already stopping or at an end are left as they are.
   * Returns the runs stopped.
   */
  cancelRuns(request: {
    readonly runIds: readonly string[]
    /** JSON text of the cause. */
    readonly cause: string
    /** `abandonment` leaves every effect as it is. Default `cancellation`. */
    readonly stop?: 'cancellation' | 'abandonment' | undefined
    /** Becomes part of the history of each run that this stops. Left out, the history says nothing of it. */
    readonly entry?: Omit<HistoryEntry, 'step'> | undefined
  }): Promise<readonly ChangedRun[]>

  /**
   * Changes one run as an operator asks: holds the run and all its steps still, calls `decide` with them, and writes the change that it
   * returns, all of it or nothing; null writes nothing. `decide` is a pure function: the store may call it again, when it had to give the
   * change up for the sake of another. What it throws is thrown, and nothing is written. Null when there is no such run.
   *
   * With `tx` the change is part of that transaction, which holds the run until it ends; workers are woken when it commits. Throws
   * `invalid_option` for what is no open transaction of this store.
   */
  changeRun<Answer extends object>(
    request: KeepsAttempts & {
      readonly runId: string
      readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
    },
    options?: WithinTransaction,
  ): Promise<Answer | null>

  /** What operators did to a run, and the signals it received: the newest `limit` of them, in the order they came. */
  readHistory(request: { readonly runId: string; readonly limit: number }): Promise<readonly HistoryRecord[]>

  /** The attempts of a run that were kept: the newest `limit` of them, in the order in which they ended. Those that are under way are not told. */
  readAttempts(request: { readonly runId: string; readonly limit: number }): Promise<readonly KeptAttempt[]>

  /** Definitions by the store's number; unknown ones are left out. With `tx` also those that were saved in it. */
  readDefinitions(
    definitionIds: readonly number[],
    options?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /** A workflow's definition of this version, or of the highest that is stored; null when there is none. With `tx` also one that was saved in it. */
  findDefinition(
    wanted: { readonly name: string; readonly version?: number | undefined },
    options?: WithinTransaction,
  ): Promise<SavedDefinition | null>

  /**
   * Gives signals to steps: each is recorded by its key, becomes its step's output, and makes the step ready if it waits; all of that in one
   * commit. A step takes one signal, until an operator has it ask anew: a change that takes `signalledAt` from a step supersedes its signal,
   * and the same key may come again. Results are in order.
   *
   * With `tx` they are part of that transaction, which holds the steps until it ends; workers are woken when it commits. Throws
   * `invalid_option` for what is no open transaction of this store. Throws `refusedSignals()` for a payload or key that it can never store.
   */
  deliverSignals(signals: readonly NewSignal[], options?: WithinTransaction): Promise<readonly Delivery[]>

  /**
   * Looks at a bounded number of the live runs of workflows that have approvals, the newest first, and returns the steps of theirs that wait for
   * one. Other runs cost it nothing.
   */
  findApprovals(request: ApprovalsRequest): Promise<FoundApprovals>

  /** Which definition a run follows; by id, or by workflow and key. Null when there is none. With `tx` also runs that were started in it. */
  findRun(
    run: { readonly runId: string } | { readonly workflow: string; readonly key: string },
    options?: WithinTransaction,
  ): Promise<FoundRun | null>

  /**
   * Stops runs whose deadline has passed, with that as their cause (`deadlineCause`), and cancels what has not started in them; the longest
   * overdue first.
   * Paused ones stay paused.
   * Returns the runs stopped.
   */
  expireRuns(request: { readonly limit: number }): Promise<readonly ChangedRun[]>

  /**
   * In how many milliseconds the next queued step of these definitions becomes claimable that is not yet, and the next deadline of any run
   * passes, which may have passed already. Null for neither.
   */
  upcoming(request: {
    readonly definitionIds: readonly number[]
  }): Promise<{ readonly claimInMs: number | null; readonly deadlineInMs: number | null }>

  /** One run with its steps in order, or null. */
  readRun(runId: string): Promise<{ readonly run: RunRecord; readonly steps: readonly StepRecord[] } | null>

  /**
   * Statuses of these runs; unknown runs are left out. With `stored` a run that is scheduled or waits is running, which is cheaper to tell:
   * for who only wants to know whether it has ended.
   */
  readStatuses(
    runIds: readonly string[],
    options?: { readonly stored?: boolean },
  ): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]>

  /** Runs, newest first: the greatest run id first. */
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>

  /** How many runs fit: one count or, by status, one for each status that any of them has. Looks at a bounded number of those that fit. */
  countRuns(request: RunCountRequest): Promise<readonly RunCount[]>

  /**
   * Workers, the longest registered first, 10,000 at most. Those that left are not known any more, nor are the dead once their steps are
   * given back.
   */
  listWorkers(request?: { limit?: number }): Promise<readonly WorkerRecord[]>

  /** What a worker holds, for people to read, by run and step. Unknown workers hold nothing. */
  listHeld(request: { workerId: string; limit: number }): Promise<readonly HeldStepRecord[]>

  /** Looks at a bounded number of the runs that ended before an instant, longest ended first, and returns those that are asked for. */
  findEnded(request: EndedRunsRequest): Promise<EndedRuns>

  /**
   * Deletes runs with everything that belongs to them, as far as they have ended, and did so before an instant: a run that was sent forward
   * again stays. Never waits for another's lock: what somebody is changing just now stays too. Returns the runs deleted.
   */
  prune(request: { runIds: readonly string[]; finishedBefore: number }): Promise<readonly string[]>

  /** Takes the keys from runs that ended before an instant, so that they can be used again. Otherwise as `prune`. Returns the runs that had one. */
  releaseKeys(request: { runIds: readonly string[]; finishedBefore: number }): Promise<readonly string[]>

  /** What could be wrong with what is stored. Costs as much as there are live runs, whatever the history. */
  diagnose(request: { overdueMs: number }): Promise<Diagnosis>

  /**
   * Calls back when work may have become claimable: a hint that may be missing, late or false. Without a hint's content anything may have.
   * Returns how to stop it.
   */
  onWake(listener: (hint?: WakeHint) => void): () => void

  /** Tells other processes' workers that work of these definitions may have become claimable; left out, of any. Coalesced, best effort, never throws. */
  wake(definitionIds?: readonly number[]): void

  /**
   * Calls back when the adapter has noticed something that an operator should know, such as a pool without a free connection. Left out by
   * adapters that have nothing to tell. Returns how to stop it.
   */
  onNotice?(listener: (notice: StoreNotice) => void): () => void

  /** Throws `store_misconfigured` when no connection could ever be had for a transactional step. Left out where one always can. */
  checkTransactions?(): void

  /** Ends connections the adapter opened. Idempotent. */
  close(): Promise<void>
}
