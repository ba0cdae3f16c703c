import { factsOfKind, type RunToChange } from '../../adapter/index.ts'
import { isContinued, isSatisfied, type Plan, stepNamed } from './plan.ts'
import { isForward, stepRefusal } from './refusal.ts'
import { assertRetryable, keepsFailure, reopen, retryFailed } from './reopen.ts'

/**
 * Makes a step's next try, or a poll's next check, run now, with all its retries. In an ended run this retries the run, and the step runs again
 * with the others. If the run had continued past its failure, the steps that were told of it run again too, anew.
 */
export function planRetryStep(found: RunToChange, name: string): Plan {
  const step = stepNamed(found, name)
  const { run, shape, now } = found
  const refuse = (because: string, remedy?: string) => stepRefusal(run, step, 'retried', because, remedy)
  if (!isForward(run)) {
    assertRetryable(found, 'retried')
    if (isSatisfied(step)) throw refuse(`it has ${step.status === 'skipped' ? 'been skipped' : step.status}`)
    return reopen(found, keepsFailure(found, step) ? { again: step.step } : {})
  }
  switch (step.status) {
    case 'ready': {
      // A time that has passed stays: for a wait it means that the wait is over.
      const availableAt = step.availableAt !== null && step.availableAt > now ? null : step.availableAt
      // Its losses stay: further attempts do not reveal what a lost attempt did.
      const due = { ...step, failures: 0, failingSince: null, availableAt }
      return { run, steps: [due], queue: [due] }
    }
    case 'running':
      throw refuse('it is running', 'Wait for it to end.')
    case 'waiting': {
      if (factsOfKind(shape.steps[step.step]!.kind)?.hurriedByRetry === true) {
        const due = { ...step, availableAt: now }
        return { run, steps: [due], queue: [due] }
      }
      throw refuse('it waits for a time or a signal', 'Send the signal, or skip the step.')
    }
    case 'pending':
      throw refuse('it waits for the steps it depends on', 'The explanation of the run tells which.')
    case 'failed':
      if (!isContinued(found, step)) return retryFailed(found, (other) => other === step)
      throw refuse(
        'the run continued past its failure',
        'Once the run has ended without completing, it can be retried.',
      )
    default:
      throw refuse(`it is ${step.status}`)
  }
}
