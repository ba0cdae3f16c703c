import type { RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { owesNothing } from '../decisions/plan-undo.ts'
import { failedWhilePaused, planCancel } from './cancel.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, stepRefusal } from './refusal.ts'

/**
 * Ends a run whose code is gone, and undoes nothing. A run that goes forward is stopped first, and ends when it is dropped again. Undos that were
 * begun count as skipped. Null if the run has ended.
 *
 * @throws BelayError `action_refused` while a worker holds one of its steps.
 */
export function planDrop(found: RunToChange, reason: string | null): Plan | null {
  const { run, steps, now } = found
  if (run.finishedAt !== null) return null
  assertUnheld(found)
  if (isForward(run) || failedWhilePaused(run)) return planCancel(found, { compensate: false, reason })
  const status = run.endsAs ?? (run.stop === 'failure' ? 'failed' : 'cancelled')
  const finishedAt = Math.max(now, run.createdAt)
  return {
    run: { ...run, status, endsAs: status, openSteps: 0, finishedAt },
    steps: steps.flatMap((step) => droppedRow(found, step) ?? []),
    queue: [],
  }
}

function assertUnheld({ run, steps }: RunToChange): void {
  const held = steps.find(
    ({ status, workerId }) => status === 'running' || (status === 'compensating' && workerId !== null),
  )
  if (held === undefined) return
  const remedy =
    'If that worker is gone, wait until its lease has ended: another worker then takes the step back.'
  throw stepRefusal(run, held, 'dropped with its run', 'a worker holds it', remedy)
}

/** The new row of a step that has not ended. */
function droppedRow(found: RunToChange, step: StoredStep): StepChange | undefined {
  if (hasNotBegun(step)) return { ...step, status: 'cancelled' }
  if (step.status !== 'compensating' && step.status !== 'compensation_failed') return undefined
  const { undo, undoOf } = step
  if (owesNothing(found, step))
    return { ...step, status: undoOf ?? 'completed', openDependencies: 0, undoOf: null, undo: null }
  const finishedAt = Math.max(found.now, undo?.startedAt ?? found.now)
  return {
    ...step,
    status: 'compensated',
    openDependencies: 0,
    workerId: null,
    undo: undo && { ...undo, finishedAt, skipped: true },
  }
}
