import type { StoredRun, StoredStep } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'

/** An action that doesn't fit where the run stands: `Run 0192… cannot be paused: it has completed.` */
export function runRefusal(
  run: Pick<StoredRun, 'runId' | 'status'>,
  participle: string,
  remedy = '',
): BelayError {
  return refusal(run, `Run ${run.runId} cannot be ${participle}: ${standingOf(run)}.`, remedy)
}

/** An action that doesn't fit where the step stands: `Step "pay" of run 0192… cannot be skipped: it is running.` */
export function stepRefusal(
  run: StoredRun,
  step: StoredStep,
  participle: string,
  because: string,
  remedy = '',
): BelayError {
  const what = `Step "${step.name}" of run ${run.runId} cannot be ${participle}: ${because}.`
  return refusal(run, what, remedy, step.name)
}

function refusal(
  { runId }: Pick<StoredRun, 'runId'>,
  what: string,
  remedy: string,
  step?: string,
): BelayError {
  return new BelayError('action_refused', remedy === '' ? what : `${what} ${remedy}`, { runId, step })
}

function standingOf({ status }: Pick<StoredRun, 'status'>): string {
  switch (status) {
    case 'scheduled':
    case 'running':
    case 'waiting':
    case 'paused':
      return `it is ${status}`
    case 'compensating':
      return 'it is being undone'
    case 'compensation_failed':
      return 'its undo is parked, because a compensation failed'
    case 'completed':
      return 'it has completed'
    case 'failed':
    case 'compensated':
    case 'cancelled':
      return `it has ended as ${status}`
  }
}

/** What to do about a run whose undo is in the way. */
export function remedyOfUndo({ status }: StoredRun): string {
  if (status === 'compensating') return 'Wait until its undo has come to its end.'
  if (status === 'compensation_failed') {
    return 'Repair the parked compensation first, with retryCompensation() or skipCompensation().'
  }
  return ''
}

export function isForward({ status }: Pick<StoredRun, 'status'>): boolean {
  return status === 'scheduled' || status === 'running' || status === 'waiting' || status === 'paused'
}
