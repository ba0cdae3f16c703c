import type { RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { sentence } from '../../words.ts'
import { owesNothing } from '../decisions/plan-undo.ts'
import { type Plan, stepNamed } from './plan.ts'
import { stepRefusal } from './refusal.ts'

/**
 * Stops waiting for a handler that neither ends nor reacts to its signal, in a run that is being stopped. Its step or compensation fails, with an
 * unknown effect. A later result of the handler is discarded, because its attempt no longer holds the step.
 */
export function planGiveUpStep(found: RunToChange, name: string, reason: string): Plan {
  const step = stepNamed(found, name)
  const { run, now } = found
  assertHangs(found, step)
  const isUndo = step.status === 'compensating'
  const error = JSON.stringify({
    name: 'BelayError',
    code: 'outcome_unknown',
    message: `An operator gave up on the handler, which had not ended: ${sentence(reason)} Whether it took effect is unknown.`,
  })
  const given: StepChange = {
    ...step,
    status: isUndo ? 'compensation_failed' : 'failed',
    workerId: null,
    ...(isUndo ? undoEnded(step, now, error) : { finishedAt: Math.max(now, step.startedAt ?? now), error }),
  }
  const isParked = isUndo && run.status !== 'paused'
  return { run: isParked ? { ...run, status: 'compensation_failed' } : run, steps: [given], queue: [] }
}

function undoEnded({ undo }: StoredStep, now: number, undoError: string): Partial<StepChange> {
  return {
    undo: undo && { ...undo, finishedAt: Math.max(now, undo.startedAt ?? now) },
    undoError,
  }
}

function assertHangs(found: RunToChange, step: StoredStep): void {
  const { run } = found
  const refuse = (because: string, remedy?: string) => stepRefusal(run, step, 'given up', because, remedy)
  if (step.workerId === null || (step.status !== 'running' && step.status !== 'compensating')) {
    throw refuse(`it is ${step.status}, and no handler of it runs`)
  }
  if (step.status === 'compensating' && owesNothing(found, step)) {
    throw refuse(
      'it has nothing to undo, and no handler of it runs',
      'It continues with its worker, or on another worker if that is lost.',
    )
  }
  if (run.stop === null) {
    throw refuse(
      'its run goes forward',
      'Cancel the run first: that signals its handlers; this is for a handler that ignores its signal.',
    )
  }
}
