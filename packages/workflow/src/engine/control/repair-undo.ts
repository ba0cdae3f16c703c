import type { RunToChange, StepChange, StoredRun, StoredStep } from '../../adapter/index.ts'
import { owesNothing } from '../decisions/plan-undo.ts'
import { dependentsIn, type Plan, stepNamed } from './plan.ts'
import { isParked, stepRefusal } from './refusal.ts'

/**
 * Calls a compensation again now, with all its retries, that failed permanently or waits for its next try. In a paused run it is called after the
 * resumption.
 */
export function planRetryCompensation(found: RunToChange, name: string): Plan {
  const { run } = found
  const step = undoToRepair(found, name, 'retried')
  const due: StepChange = {
    ...step,
    status: 'compensating',
    // The resumption removes it, like that of every undo in a paused run that has not begun.
    openDependencies: run.status === 'paused' ? 1 : 0,
    undo: step.undo && { ...step.undo, failures: 0, losses: 0 },
    failingSince: null,
    workerId: null,
    availableAt: null,
  }
  const queue = run.status === 'paused' ? [] : [due]
  return { run: { ...run, status: statusWithout(found, step) }, steps: [due], queue }
}

/** Marks a step as undone whose compensation failed permanently or waits for its next try: somebody undid it by hand or accepts its effect. */
export function planSkipCompensation(found: RunToChange, name: string): Plan {
  const { run, steps, shape, now } = found
  const step = undoToRepair(found, name, 'skipped')
  const undone: StepChange = {
    ...step,
    status: 'compensated',
    openDependencies: 0,
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

/** Finds an undo that failed permanently, or waits only for its next try. */
function undoToRepair(found: RunToChange, name: string, participle: string): StoredStep {
  const step = stepNamed(found, name)
  if (isParked(step)) return step
  const [because, remedy] = whyNot(found, step)
  if (because === null) return step
  throw stepRefusal(found.run, step, `${participle} in its undo`, because, remedy)
}

function whyNot(found: RunToChange, step: StoredStep): readonly [because: string | null, remedy: string] {
  if (step.status !== 'compensating') return [`it is ${step.status}`, parkedIn(found)]
  if (step.workerId !== null) {
    return ['its undo is running', 'Wait for it to end, or give up the step if its handler hangs.']
  }
  if (owesNothing(found, step))
    return ['it has nothing to undo, and only keeps the order of the undo', parkedIn(found)]
  const before = dependentsIn(found)
    [step.step]!.map((number) => found.steps[number]!)
    .filter(isUndoOpen)
  if (before.length === 0) return [null, '']
  const names = before.map((other) => `"${other.name}"`).join(', ')
  return [`it is undone after ${names}`, 'Its explanation tells what those wait for.']
}

function isUndoOpen({ status }: StoredStep): boolean {
  return status === 'compensating' || status === 'compensation_failed'
}

function parkedIn({ steps }: RunToChange): string {
  const parked = steps.filter(isParked)
  if (parked.length === 0) return 'No undo of this run has failed for good.'
  return `These have failed for good: ${parked.map((other) => `"${other.name}"`).join(', ')}.`
}

/** The run stays parked while another compensation is, and paused until somebody resumes it. */
function statusWithout({ run, steps }: RunToChange, repaired: StoredStep): StoredRun['status'] {
  if (run.status === 'paused') return 'paused'
  return steps.some((step) => step !== repaired && isParked(step)) ? 'compensation_failed' : 'compensating'
}
