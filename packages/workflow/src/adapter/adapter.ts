import type { Clock } from '../clock.ts'
import type { RunStatus } from './lifecycle.ts'
import type {
  Claim,
  DefinitionRecord,
  DrainedRun,
  NewRun,
  Outcome,
  PayloadRequest,
  RunFilter,
  RunPayloads,
  RunRecord,
  SavedDefinition,
  Settlement,
  StartedRun,
  StepRecord,
  UndoPlan,
} from './records.ts'
import type { Transacted, TransactRequest, WithinTransaction } from './transaction.ts'

/**
 * The port between the engine and a store.
 *
 * Every verb is one atomic change (all of it or nothing, unless it says otherwise), takes arrays and returns arrays. Every verb may throw
 * `StoreUnavailableError`; then its effect is unknown, and the engine repeats it or asks (`held`). Verbs repeat their guards in every
 * write, so that any of them may be called late, twice, or by a worker that was presumed dead, without harm.
 *
 * Leases belong to workers: `renew` extends one row, and every step the worker holds with it. A step is held by (worker, attempt).
 * When a worker's lease expires, `sweep` declares it dead first, which no claim can overtake, and then gives its steps to others.
 */
export interface Adapter {
  /** For messages: `'postgres'`, `'pglite'`, `'memory'`. */
  readonly name: string

  /** A clock that the engine should take its timers from; given by stores whose time is virtual. */
  readonly clock?: Clock

  /**
   * True when the store has one session, as PGlite has: while a transaction is open in it, every other verb waits for that to end. The
   * engine then saves definitions inside a caller's transaction instead of beside it.
   */
  readonly singleSession?: boolean

  /**
   * Connects, checks the schema's version and, where the adapter is set to, migrates it. Idempotent; called before every other verb.
   * Throws `schema_missing`, `schema_outdated`, `schema_too_new`, `store_misconfigured`, `directory_in_use`.
   */
  open(): Promise<void>

  /** The store's clock, epoch milliseconds. */
  now(): Promise<number>

  /**
   * Inserts definitions that are not there yet; returns what the store holds for each (name, version), in order. Never overwrites.
   * With `tx`, which only stores with a single session are given, it is part of that transaction.
   */
  saveDefinitions(
    definitions: readonly DefinitionRecord[],
    options?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /**
   * Creates each run with all its step rows, roots ready. A run whose (workflow, key) is taken is not created; the holder is returned in
   * its place, also when the holder was committed by another transaction during the call. Results are in order.
   *
   * With `tx` the runs are part of that transaction: there once it is committed, and never when it is rolled back. A key that an open
   * transaction has taken is waited for. The adapter itself wakes workers when such a transaction commits, if it can.
   * Throws `invalid_option` for what is no open transaction of this store.
   */
  startRuns(runs: readonly NewRun[], options?: WithinTransaction): Promise<readonly StartedRun[]>

  /** Registers a worker with a lease. Idempotent for a live worker. */
  registerWorker(worker: { workerId: string; name: string; leaseMs: number }): Promise<void>

  /** Extends the worker's lease, and with it all the steps it holds. `lost`: it was declared dead and may hold nothing any more. */
  renew(renewal: { workerId: string; leaseMs: number }): Promise<'held' | 'lost'>

  /** Forgets a worker that holds nothing any more: the last word of a graceful stop. */
  deregisterWorker(worker: { workerId: string }): Promise<void>

  /**
   * Leases up to `limit` ready steps of these definitions to the worker, longest available first. Steps of runs that are being stopped are
   * not claimed forward. Returns `lost` when the worker is unknown or dead.
   */
  claim(request: {
    workerId: string
    definitionIds: readonly number[]
    limit: number
  }): Promise<readonly Claim[] | 'lost'>

  /**
   * Everything the worker holds: asked after a verb that hands out claims threw, because the claims may have been made.
   * The caller has no other verb under way.
   */
  held(request: { workerId: string }): Promise<readonly Claim[]>

  /**
   * Records finished attempts, each guarded by (worker, attempt). For each outcome its effects on dependents and on the run commit
   * together with it; different outcomes of one call may commit apart. Of the steps that become ready, up to `handBackMax` are leased to
   * this worker and returned; the rest are left to be claimed. Repeating a call whose answer was lost returns `settled` for what it had
   * recorded, but not the claims: ask `held`. An outcome that the store refuses does not hinder the others.
   */
  settle(settlement: {
    workerId: string
    outcomes: readonly Outcome[]
    handBackMax: number
  }): Promise<Settlement>

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
  sweep(request: { limit: number }): Promise<{
    readonly lostWorkers: readonly string[]
    readonly recovered: readonly Omit<Claim, 'failures' | 'undoOf'>[]
    readonly more: boolean
  }>

  /** Of these runs, those that no longer go forward: their forward handlers are to be signalled. */
  stopping(request: { runIds: readonly string[] }): Promise<readonly string[]>

  /**
   * Cancels what has not started in runs that are to be undone, and returns those in which nothing is in flight any more and whose undo
   * has not begun, oldest first; only runs of these definitions and, when given, only these runs.
   */
  drain(request: {
    definitionIds: readonly number[]
    runIds?: readonly string[] | undefined
    limit: number
  }): Promise<readonly DrainedRun[]>

  /**
   * Begins the undo of drained runs, exactly once per run: a plan for a run whose undo has begun, or that is not drained, changes nothing.
   * Undos with no open dependents become claimable. Returns the runs that this call moved, with their new status.
   */
  beginUndo(
    plans: readonly UndoPlan[],
  ): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]>

  /** Stops running runs with a cancellation; those that are already stopping or at an end are left as they are. Returns the runs stopped. */
  cancelRuns(request: {
    readonly runIds: readonly string[]
    /** JSON text of the cause. */
    readonly cause: string
  }): Promise<readonly string[]>

  /** One run with its steps in order, or null. */
  readRun(runId: string): Promise<{ readonly run: RunRecord; readonly steps: readonly StepRecord[] } | null>

  /** Statuses of these runs; unknown runs are left out. */
  readStatuses(
    runIds: readonly string[],
  ): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]>

  /** Runs, newest first. */
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>

  /** Calls back when work may have become claimable: a hint that may be missing, late or false. Returns how to stop it. */
  onWake(listener: () => void): () => void

  /** Tells other processes' workers that work may have become claimable. Coalesced, best effort, never throws. */
  wake(): void

  /** Ends connections the adapter opened. Idempotent. */
  close(): Promise<void>
}
