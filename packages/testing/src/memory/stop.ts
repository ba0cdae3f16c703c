import {
  type Adapter,
  type ChangedRun,
  FORWARD_STATUSES,
  type StoredRunStatus,
} from '@belay/workflow/adapter'
import { changedRun, changeStep, moveRun } from './change.ts'
import { note } from './history.ts'
import type { Rows, RunRow } from './rows.ts'
import { rowsOf } from './run-rows.ts'

const FORWARD: ReadonlySet<StoredRunStatus> = new Set(FORWARD_STATUSES)

/** Whether a run was not stopped and has not ended. */
export function goesForward(run: RunRow): boolean {
  return FORWARD.has(run.status) && run.stop === null
}

/**
 * Stops a run that goes forward; it first drains. A paused run stays paused until it is resumed, unless it is cancelled. The first cause wins.
 * Returns whether this call stopped it.
 */
export function stopRun(rows: Rows, run: RunRow, stop: NonNullable<RunRow['stop']>, cause: string): boolean {
  if (!goesForward(run)) return false
  cancelUnstarted(rows, run)
  if (run.status !== 'paused' || stop !== 'failure') moveRun(rows, run, 'compensating')
  run.stop = stop
  run.cause = cause
  return true
}

/** Cancels the steps that are not in flight, so that no step of a stopped run begins any more. */
export function cancelUnstarted(rows: Rows, run: RunRow): void {
  for (const step of rowsOf(run)) {
    if (step.status !== 'pending' && step.status !== 'ready' && step.status !== 'waiting') continue
    rows.changes += 1
    rows.queue.remove({ runId: run.runId, step: step.step })
    changeStep(run, step, { status: 'cancelled' })
  }
}

export function cancelRuns(rows: Rows, request: Parameters<Adapter['cancelRuns']>[0]): readonly ChangedRun[] {
  const { runIds, cause, stop = 'cancellation', entry } = request
  return [...new Set(runIds)].flatMap((runId) => {
    const run = rows.runs.get(runId)
    if (
      run === undefined ||
      (stop === 'cancellation' && isPastPivot(run)) ||
      !stopRun(rows, run, stop, cause)
    )
      return []
    if (entry !== undefined) note(rows, runId, entry)
    return [changedRun(rows, run)]
  })
}

/** Whether a pivot of the run has completed: then it cannot be undone any more. */
export function isPastPivot(run: RunRow): boolean {
  const { steps } = run.definition.saved.shape
  return steps.some(({ pivot }, number) => pivot === true && run.steps[number]!.status === 'completed')
}

export function stopping(rows: Rows, { runIds }: { runIds: readonly string[] }): readonly string[] {
  return [...new Set(runIds)].filter((runId) => {
    const run = rows.runs.get(runId)
    return run !== undefined && !goesForward(run)
  })
}
