import type { JsonText, RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { dependentsIn, isContinued, type Plan, stepNamed } from './plan.ts'
import { isForward, stepRefusal } from './refusal.ts'
import { assertRetryable, keepsFailure, reopen } from './reopen.ts'

/** Marks a step as skipped, with a stand-in for its output. Its dependencies must have ended. In an ended run it must be the step that failed. */
export function planSkipStep(found: RunToChange, name: string, output: JsonText): Plan {
  const step = stepNamed(found, name)
  const { run, shape } = found
  if (shape.steps[step.step]!.kind === 'map') {
    const remedy = 'Retry the run, or skip items of the map.'
    throw stepRefusal(run, step, 'skipped', 'it decides the items of a map', remedy)
  }
  if (shape.steps[step.step]!.kind === 'repeat') {
    const remedy = 'Retry the run, or skip a round of the loop.'
    throw stepRefusal(run, step, 'skipped', 'it begins a loop', remedy)
  }
  if (isForward(run)) return skipForward(found, step, output)
  assertRetryable(found, 'continued by skipping a step')
  if (keepsFailure(found, step)) {
    const remedy = 'Retry it instead: it runs again, with the steps that were told of it.'
    throw stepRefusal(run, step, 'skipped', 'the run continued past its failure', remedy)
  }
  if (step.status === 'failed' || step.undoOf === 'failed')
    return reopen(found, { stoodIn: skipped(found, step, output) })
  throw stepRefusal(
    run,
    step,
    'skipped',
    `it is ${step.status}, and what failed is another step`,
    failedStep(found),
  )
}

function skipForward(found: RunToChange, step: StoredStep, output: JsonText): Plan {
  const { run, steps, now } = found
  assertSkippable(found, step)
  const dependents = dependentsIn(found)[step.step]!.map((number) => steps[number]!)
  const advanced = dependents
    .filter(({ status }) => status === 'pending')
    .map((dependent): StepChange => {
      const openDependencies = dependent.openDependencies - 1
      return { ...dependent, openDependencies, status: openDependencies === 0 ? 'ready' : 'pending' }
    })
  const openSteps = run.openSteps - (dependents.length === 0 ? 1 : 0)
  const ended = openSteps === 0 ? ({ status: 'completed', finishedAt: now } as const) : {}
  return {
    run: { ...run, openSteps, ...ended },
    steps: [skipped(found, step, output), ...advanced],
    queue: advanced.filter(({ status }) => status === 'ready'),
  }
}

function assertSkippable(found: RunToChange, step: StoredStep): void {
  const refuse = (because: string, remedy?: string) =>
    stepRefusal(found.run, step, 'skipped', because, remedy)
  switch (step.status) {
    case 'ready':
    case 'waiting':
      return
    case 'running':
      throw refuse(
        'it is running, and what it does cannot be taken back',
        'Skip it while it waits for its next try; a pause of the run keeps the next try from beginning.',
      )
    case 'pending':
      throw refuse(
        'it waits for the steps it depends on',
        'Skip those first, or skip this step when its turn comes.',
      )
    case 'failed':
      // It failed after a pivot, and its run waits for an operator.
      if (!isContinued(found, step)) return
      throw refuse('the run continued past its failure')
    default:
      throw refuse(`it is ${step.status}`)
  }
}

function skipped({ now }: RunToChange, step: StoredStep, output: JsonText): StepChange {
  return {
    ...step,
    status: 'skipped',
    openDependencies: 0,
    workerId: null,
    undoOf: null,
    undo: null,
    availableAt: null,
    // The stand-in, not an earlier signal, is its output.
    signalledAt: null,
    succeeded: step.status !== 'compensated' && step.succeeded,
    finishedAt: Math.max(now, step.startedAt ?? now),
    // The operator's word replaces the definition's: its dependents run.
    branch: null,
    output,
  }
}

function failedStep({ steps }: RunToChange): string {
  const failed = steps.find(({ status, undoOf }) => status === 'failed' || undoOf === 'failed')
  return failed === undefined ? '' : `That is "${failed.name}".`
}
