import type { StoredRun, StoredStep } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'

type Standing = Pick<StoredRun, 'runId' | 'status' | 'stop' | 'endsAs'>

/** The error for an action that the run's state does not allow: `Run 0192… cannot be paused: it has completed.` */
export function runRefusal(run: Standing, participle: string, remedy = ''): BelayError {
  const refusal = `cannot be ${participle}: ${standingOf(run)}.`
  return refused({ runId: run.runId, refusal, remedy })
}

/** The error for an action that the step's state does not allow: `Step "pay" of run 0192… cannot be skipped: it is running.` */
export function stepRefusal(
  run: StoredRun,
  step: StoredStep,
  participle: string,
  because: string,
  remedy = '',
): BelayError {
  const refusal = `cannot be ${participle}: ${because}.`
  return refused({ runId: run.runId, step: step.name, refusal, remedy })
}

function refused(context: {
  readonly runId: string
  readonly step?: string
  readonly refusal: string
  readonly remedy: string
}): BelayError {
  const { runId, step, refusal } = context
  const subject = step === undefined ? `Run ${runId}` : `Step "${step}" of run ${runId}`
  return new BelayError('action_refused', `${subject} ${refusal}`, context)
}

function standingOf(run: Standing): string {
  switch (run.status) {
    case 'running':
      return 'it is running'
    case 'paused':
      if (isForward(run)) return 'it is paused'
      return run.endsAs === null ? 'it was stopped, and is paused before its undo' : 'its undo is paused'
    case 'compensating':
      return 'it is being undone'
    case 'compensation_failed':
      return 'its undo is parked, because that of a step failed'
    case 'completed':
      return 'it has completed'
    case 'failed':
    case 'compensated':
    case 'cancelled':
      return `it has ended as ${run.status}`
  }
}

/** What to do first about a run's undo. */
export function remedyOfUndo(run: StoredRun): string {
  if (run.status === 'paused' && !isForward(run)) {
    return 'Resume it, and wait until its undo has ended.'
  }
  if (run.status === 'compensating') return 'Wait until its undo has ended.'
  if (run.status === 'compensation_failed') {
    return 'Repair the parked undo first: retry it, or mark it as undone.'
  }
  return ''
}

/** Whether the run has neither ended nor been stopped. A paused run may have been stopped: it is undone once it is resumed. */
export function isForward({ status, stop }: Pick<StoredRun, 'status' | 'stop'>): boolean {
  if (status === 'paused') return stop === null
  return status === 'running'
}

/** Whether its compensation failed permanently. */
export function isParked({ status }: StoredStep): boolean {
  return status === 'compensation_failed'
}
