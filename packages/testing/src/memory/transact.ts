import type {
  ChangedSchedules,
  CollectedRun,
  Delivery,
  KeepsAttempts,
  Lease,
  NewCall,
  NewRun,
  NewSignal,
  Outcome,
  SchedulesToChange,
  StartedRun,
  SubmittedWork,
  Transacted,
  TransactRequest,
} from '@belay/workflow/adapter'
import { applyChanges, changeWithin, nameOfRun, outdatedRun } from './change-within.ts'
import { applyCalls, begunRun, collectAll, namesOfCalls } from './collect.ts'
import { changeRun } from './control.ts'
import { refusalOfAny } from './refusal.ts'
import type { NameHolder, Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { applySchedules, changeSchedules, nameOfSchedule } from './schedules.ts'
import { holds, isRecorded, settle } from './settle.ts'
import { deliverSignals, deliverWithin, isTaken, nameOfStep } from './signals.ts'
import { createRun, namesOf, startRuns, startRunsWithin } from './start.ts'
import { type ChangeRequest, type MemoryTransaction, NO_SQL } from './transaction.ts'
import { publish, resultsOf } from './values.ts'

/** Calls the work. If it fails, the transaction fails. */
export async function workIn(
  tx: MemoryTransaction,
  work: TransactRequest['work'],
): Promise<Transacted | SubmittedWork> {
  try {
    return (await work({ client: tx, drizzle: NO_SQL })) ?? { type: 'rolled_back' }
  } catch (error) {
    return isConflict(error) ? { type: 'conflict', error } : { type: 'rolled_back', error }
  }
}

/** Commits the end of a transactional attempt, its outcome, its runs and its effects; or nothing. */
export function settleWithin(
  rows: Rows,
  tx: MemoryTransaction,
  settlement: KeepsAttempts & SubmittedWork & { readonly workerId: string },
): Transacted {
  const {
    workerId,
    outcome,
    handBackMax,
    keepAttempts,
    frees,
    told = { values: [], keysMax: 0 },
  } = settlement
  const run = rows.runs.get(outcome.runId)
  const step = run === undefined ? undefined : rowOf(run, outcome.step)
  if (run === undefined || step === undefined || !holds(step, outcome, workerId)) {
    tx.rollBack()
    return { type: 'lost' }
  }
  const refusal = refusalOfAny(outcome)
  if (refusal !== undefined) {
    tx.rollBack()
    return { type: 'refused', reason: refusal }
  }
  const results = resultsOf(rows, { workerId, ...told }, tx)
  if (results.some((result) => result !== 'stored')) {
    tx.rollBack()
    return { type: 'unpublished', results }
  }
  const error = conflictOf(rows, tx)
  if (error !== undefined) return { type: 'conflict', error }
  publish(rows, { workerId, ...told }, tx)
  // The transaction's own changes come first: a run that it has paused hands nothing back.
  commit(rows, tx)
  const settled = settle(rows, { workerId, outcomes: [outcome], handBackMax, keepAttempts, frees })
  return { type: 'settled', settlement: settled }
}

/** Throws a conflict, and changes nothing, if the target of a change or signal was changed by somebody else meanwhile. */
export function commit(rows: Rows, tx: MemoryTransaction): void {
  const conflict = conflictOf(rows, tx)
  if (conflict !== undefined) throw conflict
  tx.commit(() => {
    for (const run of tx.runs.values()) createRun(rows, run)
    applyCalls(rows, tx)
    deliverSignals(rows, tx.signals)
    applyChanges(rows, tx)
    applySchedules(rows, tx)
  })
}

function conflictOf(rows: Rows, tx: MemoryTransaction): Error | undefined {
  const signal = tx.signals.find((sent) => !tx.runs.has(sent.runId) && !isTaken(rows, sent))
  const outdatedRunId = outdatedRun(rows, tx) ?? begunRun(rows, tx)
  if (signal === undefined && outdatedRunId === undefined) return undefined
  const what =
    signal === undefined
      ? `run ${outdatedRunId} was changed by somebody else meanwhile`
      : `step ${signal.step} of run ${signal.runId} was changed by somebody else since it was signalled`
  const message = `could not serialize access: ${what}`
  return Object.assign(new Error(message), { code: '40001' })
}

export function recorded(
  rows: Rows,
  { workerId, outcomes }: { workerId: string; outcomes: readonly Outcome[] },
): readonly boolean[] {
  return outcomes.map((outcome) => {
    const run = rows.runs.get(outcome.runId)
    const step = run === undefined ? undefined : rowOf(run, outcome.step)
    return step !== undefined && isRecorded(step, outcome, workerId)
  })
}

/** Starts runs once no other open transaction holds one of their keys. */
export async function startRunsInTurn(
  rows: Rows,
  runs: readonly NewRun[],
  within: { readonly tx: MemoryTransaction | undefined; readonly lease: Lease | undefined },
): Promise<readonly StartedRun[]> {
  const { tx, lease } = within
  return onceFree(rows, namesOf(runs), tx, () =>
    tx === undefined ? startRuns(rows, runs, lease) : startRunsWithin(rows, runs, tx),
  )
}

/** Collects calls once no other open transaction has called with one of their keys. */
export async function collectInTurn(
  rows: Rows,
  calls: readonly NewCall[],
  tx: MemoryTransaction | undefined,
): Promise<readonly CollectedRun[]> {
  return onceFree(rows, namesOfCalls(calls), tx, () => collectAll(rows, calls, tx))
}

/** Delivers signals once no other open transaction has signalled one of their steps. */
export async function deliverInTurn(
  rows: Rows,
  signals: readonly NewSignal[],
  tx: MemoryTransaction | undefined,
): Promise<readonly Delivery[]> {
  return onceFree(rows, signals.map(nameOfStep), tx, () =>
    tx === undefined ? deliverSignals(rows, signals) : deliverWithin(rows, signals, tx),
  )
}

/** Changes a run once no other open transaction has changed it. */
export async function changeInTurn<Answer extends object>(
  rows: Rows,
  request: ChangeRequest<Answer>,
  tx: MemoryTransaction | undefined,
): Promise<Answer | null> {
  return onceFree(rows, [nameOfRun(request.runId)], tx, () =>
    tx === undefined ? changeRun(rows, request) : changeWithin(rows, request, tx),
  )
}

/** Changes schedules once no other open transaction has changed them, or leaves those out. */
export async function changeSchedulesInTurn<Answer>(
  rows: Rows,
  request: SchedulesToChange<Answer>,
  tx: MemoryTransaction | undefined,
): Promise<ChangedSchedules<Answer>> {
  const names = request.skipLocked === true ? [] : request.names.map(nameOfSchedule)
  return onceFree(rows, names, tx, () => changeSchedules(rows, request, tx))
}

/** Acts in the turn in which the names were found free: of several that waited, the next one finds them held again. */
async function onceFree<Answer>(
  rows: Rows,
  names: readonly string[],
  tx: MemoryTransaction | undefined,
  act: () => Answer,
): Promise<Answer> {
  for (let holder = rows.holderOf(names, tx); holder !== undefined; holder = rows.holderOf(names, tx)) {
    assertNoDeadlock(tx, holder)
    if (tx !== undefined) tx.waitsFor = holder
    await holder.ended
    if (tx !== undefined) tx.waitsFor = undefined
  }
  return act()
}

/** Whether this is, or wraps, the error that databases throw when they roll back a transaction because of another. */
function isConflict(error: unknown): boolean {
  for (let each = error, depth = 0; typeof each === 'object' && each !== null && depth < 5; depth += 1) {
    const { code, cause } = each as { code?: unknown; cause?: unknown }
    if (code === '40001' || code === '40P01') return true
    each = cause
  }
  return false
}

function assertNoDeadlock(tx: NameHolder | undefined, holder: NameHolder): void {
  for (let each: NameHolder | undefined = holder; each !== undefined; each = each.waitsFor) {
    if (each !== tx) continue
    throw Object.assign(new Error('deadlock detected: two transactions wait for each other'), {
      code: '40P01',
    })
  }
}
