import type { AttemptResult, KeptAttempt, Outcome } from '@belay/workflow/adapter'
import { isLeased, type StepOfRun } from './lease.ts'
import type { AttemptRow, Rows, RunRow, StepRow } from './rows.ts'
import { nameOf, rowOf } from './run-rows.ts'

/** Keeps a step's present attempt, just before its end is recorded. */
export function keepAttempt(
  rows: Rows,
  { run, step }: StepOfRun,
  end: { readonly ended: AttemptResult; readonly error: string | null },
): void {
  const { attempts: attempt, startedAt } = step.undo ?? step
  const kept: AttemptRow = {
    step: step.step,
    direction: step.undo === null ? 'forward' : 'undo',
    round: step.round,
    attempt,
    workerId: step.workerId,
    startedAt,
    finishedAt: rows.now,
    ...end,
    fence: step.fence,
  }
  rows.attempts.set(run.runId, [...(rows.attempts.get(run.runId) ?? []), kept])
}

/** How to keep an outcome; undefined if it was no attempt: a relay, an attempt that goes on, or one whose handler was not called. */
export function endOf(
  outcome: Outcome,
): { readonly ended: AttemptResult; readonly error: string | null } | undefined {
  switch (outcome.type) {
    case 'relayed':
    case 'decided':
    case 'enters':
      return undefined
    case 'released':
      return outcome.begun === false ? undefined : { ended: 'released', error: null }
    case 'received':
      return { ended: 'completed', error: null }
    case 'retry':
      return { ended: 'retrying', error: outcome.error }
    case 'failed':
    case 'compensation_failed':
      return { ended: outcome.type, error: outcome.error }
    case 'expanded':
    case 'repeated':
      return { ended: 'completed', error: null }
    default:
      return { ended: outcome.type, error: null }
  }
}

/** Whether an operator's change takes a step from the worker that holds it. */
export function isGivenUp(step: StepRow, { workerId }: { readonly workerId: string | null }): boolean {
  return isLeased(step) && workerId === null
}

/** Gives kept attempts the numbers that their steps have in the new definition. */
export function moveAttempts(rows: Rows, { runId }: RunRow, oldNumbers: readonly (number | null)[]): void {
  const kept = rows.attempts.get(runId)
  if (kept === undefined) return
  const moved = kept.flatMap((attempt) => {
    const step = oldNumbers.indexOf(attempt.step)
    return step < 0 ? [] : [{ ...attempt, step }]
  })
  rows.attempts.set(runId, moved)
}

export function readAttempts(
  rows: Rows,
  { runId, limit }: { readonly runId: string; readonly limit: number },
): readonly KeptAttempt[] {
  const run = rows.runs.get(runId)
  if (run === undefined) return []
  const kept = [...(rows.attempts.get(runId) ?? [])].sort(
    (one, other) => one.finishedAt - other.finishedAt || one.step - other.step || one.fence - other.fence,
  )
  return kept.slice(-limit).map(({ fence: _, ...attempt }) => ({
    ...attempt,
    name: nameOf(run, rowOf(run, attempt.step)!),
  }))
}
