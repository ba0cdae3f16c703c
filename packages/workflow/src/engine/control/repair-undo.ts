import type { RunToChange, StepChange, StoredRun, StoredStep } from '../../adapter/index.ts'
import { type Plan, stepNamed } from './plan.ts'
import { stepRefusal } from './refusal.ts'

/** Calls a compensation again that had failed for good, with all its retries before it. */
export function planRetryCompensation(found: RunToChange, name: string): Plan {
  const { run } = found
  const step = parkedStep(found, name, 'retried')
  const due: StepChange = {
    ...step,
    status: 'compensating',
    undo: step.undo && { ...step.undo, failures: 0, losses: 0 },
    failingSince: null,
    workerId: null,
    availableAt: null,
  }
  return { run: { ...run, status: statusWithout(found, step) }, steps: [due], queue: [due] }
}

/** Takes a step for undone whose compensation had failed for good: somebody has undone it by hand, or can live with it. */
export function planSkipCompensation(found: RunToChange, name: string): Plan {
  const { run, steps, shape, now } = found
  const step = parkedStep(found, name, 'skipped')
  const undone: StepChange = {
    ...step,
    status: 'compensated',
    workerId: null,
    undo: step.undo && { ...step.undo, finishedAt: Math.max(now, step.undo.startedAt ?? now), skipped: true },
  }
  const advanced = shape.steps[step.step]!.dependsOn.map((number) => steps[number]!)
    .filter(({ status, openDependencies }) => status === 'compensating' && openDependencies > 0)
    .map((next) => ({ ...next, openDependencies: next.openDependencies - 1 }))
  const openSteps = run.openSteps - 1
  const end =
    openSteps === 0
      ? { status: run.endsAs!, finishedAt: Math.max(now, run.createdAt) }
      : { status: statusWithout(found, step) }
  return {
    run: { ...run, openSteps, ...end },
    steps: [undone, ...advanced],
    queue: advanced.filter(({ openDependencies }) => openDependencies === 0),
  }
}

function parkedStep(found: RunToChange, name: string, participle: string): StoredStep {
  const step = stepNamed(found, name)
  if (step.status === 'compensation_failed') return step
  const parked = found.steps.filter(({ status }) => status === 'compensation_failed')
  const remedy =
    parked.length === 0
      ? 'No compensation of this run has failed for good.'
      : `Those that have failed for good: ${parked.map((other) => `"${other.name}"`).join(', ')}.`
  const { run } = found
  throw stepRefusal(run, step, `${participle} in its undo`, `it is ${step.status}`, remedy)
}

/** A run stays parked as long as another of its compensations is. */
function statusWithout({ steps }: RunToChange, repaired: StoredStep): StoredRun['status'] {
  const others = steps.filter((step) => step !== repaired && step.status === 'compensation_failed')
  return others.length === 0 ? 'compensating' : 'compensation_failed'
}
