import type { RunToChange } from '../../adapter/index.ts'
import { isSatisfied, type Plan, stepNamed } from './plan.ts'
import { isForward, stepRefusal } from './refusal.ts'
import { assertRetryable, reopen } from './reopen.ts'

/**
 * Brings a step's next try forward to now, with all its retries before it, or the next look of a poll; in a run that has ended, sends the run forward again, in which the
 * step is one of those that are run again.
 */
export function planRetryStep(found: RunToChange, name: string): Plan {
  const step = stepNamed(found, name)
  const { run, shape, now } = found
  const refuse = (because: string, remedy?: string) => stepRefusal(run, step, 'retried', because, remedy)
  if (!isForward(run)) {
    assertRetryable(found, 'retried')
    if (isSatisfied(step)) throw refuse(`it has ${step.status === 'skipped' ? 'been skipped' : step.status}`)
    return reopen(found, null)
  }
  switch (step.status) {
    case 'ready': {
      // What is due keeps its time: of a wait it tells that the wait is over.
      const availableAt = step.availableAt !== null && step.availableAt > now ? null : step.availableAt
      // Its losses stay: what a lost attempt did is unknown, however often the step is tried again.
      const due = { ...step, failures: 0, failingSince: null, availableAt }
      return { run, steps: [due], queue: [due] }
    }
    case 'running':
      throw refuse('it is running', 'Wait for it to end.')
    case 'waiting': {
      if (shape.steps[step.step]!.kind === 'poll') {
        const due = { ...step, availableAt: now }
        return { run, steps: [due], queue: [due] }
      }
      throw refuse('it waits for a time or a signal', 'Send the signal, or skip the step with skipStep().')
    }
    case 'pending':
      throw refuse('it waits for the steps it depends on', 'explain() tells which.')
    default:
      throw refuse(`it is ${step.status}`)
  }
}
