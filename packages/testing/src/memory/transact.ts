import {
  BelayError,
  type NewRun,
  type Outcome,
  type StartedRun,
  type Transacted,
  type TransactRequest,
} from '@belay/workflow/adapter'
import { refused } from './refusal.ts'
import type { Rows } from './rows.ts'
import { holds, isRecorded, settle } from './settle.ts'
import { createRun, startRuns, startRunsWithin } from './start.ts'
import type { MemoryTransaction } from './transaction.ts'

/** Does the work; its failure is the transaction's. */
export async function workIn(
  tx: MemoryTransaction,
  work: TransactRequest['work'],
): Promise<Transacted | { readonly outcome: Outcome; readonly handBackMax: number }> {
  try {
    return (await work({ client: tx, drizzle: undefined })) ?? { type: 'rolled_back' }
  } catch (error) {
    return isConflict(error) ? { type: 'conflict', error } : { type: 'rolled_back', error }
  }
}

/** The end of a transactional attempt: its outcome, its runs and its effects, or nothing. */
export function settleWithin(
  rows: Rows,
  tx: MemoryTransaction,
  settlement: { workerId: string; outcome: Outcome; handBackMax: number },
): Transacted {
  const { workerId, outcome, handBackMax } = settlement
  const run = rows.runs.get(outcome.runId)
  const step = run?.steps[outcome.step]
  if (run === undefined || step === undefined || !holds(step, outcome, workerId)) {
    tx.rollBack()
    return { type: 'lost' }
  }
  const refusal = refused(run, step, outcome)
  if (refusal !== undefined) {
    tx.rollBack()
    return { type: 'rolled_back', error: refusalError(refusal) }
  }
  const settled = settle(rows, { workerId, outcomes: [outcome], handBackMax })
  commit(rows, tx)
  return { type: 'settled', settlement: settled }
}

export function commit(rows: Rows, tx: MemoryTransaction): void {
  tx.commit((run) => createRun(rows, run))
}

export function recorded(
  rows: Rows,
  { workerId, outcomes }: { workerId: string; outcomes: readonly Outcome[] },
): readonly boolean[] {
  return outcomes.map((outcome) => {
    const step = rows.runs.get(outcome.runId)?.steps[outcome.step]
    return step !== undefined && isRecorded(step, outcome, workerId)
  })
}

/** Starts runs, once no open transaction but `tx` holds a key of theirs. */
export async function startRunsInTurn(
  rows: Rows,
  runs: readonly NewRun[],
  tx: MemoryTransaction | undefined,
): Promise<readonly StartedRun[]> {
  for (let holder = rows.keyHolder(runs, tx); holder !== undefined; holder = rows.keyHolder(runs, tx)) {
    assertNoDeadlock(tx, holder)
    if (tx !== undefined) tx.waitsFor = holder
    await holder.ended
    if (tx !== undefined) tx.waitsFor = undefined
  }
  return tx === undefined ? startRuns(rows, runs) : startRunsWithin(rows, runs, tx)
}

/** An error as databases give it when they give up a transaction for another, also wrapped in others. */
function isConflict(error: unknown): boolean {
  for (let each = error, depth = 0; typeof each === 'object' && each !== null && depth < 5; depth += 1) {
    const { code, cause } = each as { code?: unknown; cause?: unknown }
    if (code === '40001' || code === '40P01') return true
    each = cause
  }
  return false
}

function assertNoDeadlock(tx: MemoryTransaction | undefined, holder: MemoryTransaction): void {
  for (let each: MemoryTransaction | undefined = holder; each !== undefined; each = each.waitsFor) {
    if (each !== tx) continue
    throw Object.assign(new Error('deadlock detected: two transactions wait for each other’s keys'), {
      code: '40P01',
    })
  }
}

function refusalError(refusal: Outcome): BelayError {
  const { message } = JSON.parse('error' in refusal ? refusal.error : '{}') as { message?: string }
  return new BelayError('payload_unserialisable', message ?? 'The store refused the output.')
}
