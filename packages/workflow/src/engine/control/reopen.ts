import type { RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { dependentsIn, isSatisfied, type Plan } from './plan.ts'
import { isForward, remedyOfUndo, runRefusal, stepRefusal } from './refusal.ts'

/**
 * Sends a run that ended without completing forward again. What completed is kept; what failed, was cancelled or was undone is run again, and
 * so is what builds on a step that was undone: its input is no more what it was.
 */
export function planRetryRun(found: RunToChange): Plan {
  assertRetryable(found, 'retried')
  return reopen(found, null)
}

/** Throws unless the run has ended without completing. */
export function assertRetryable({ run }: RunToChange, participle: string): void {
  if (isForward(run)) {
    const remedy =
      'Nothing in it has failed for good; retryStep() brings the next try of a waiting step forward.'
    throw runRefusal(run, participle, run.status === 'paused' ? 'Resume it with resume().' : remedy)
  }
  if (run.status === 'completed') throw runRefusal(run, participle, 'Start another run.')
  const remedy = remedyOfUndo(run)
  if (remedy !== '') throw runRefusal(run, participle, remedy)
}

/** The same, with one step that is taken for done. */
export function reopen(found: RunToChange, stoodIn: StepChange | null): Plan {
  const { run, steps, shape, now } = found
  const again = whatRunsAgain(found, stoodIn)
  const dependents = dependentsIn(found)
  const reopened = steps.flatMap((step, number) => {
    const kind = again[number]
    if (kind === undefined) return []
    const open = shape.steps[number]!.dependsOn.filter((dependency) => again[dependency] !== undefined)
    return [reopenedStep(step, kind, open.length)]
  })
  const openSteps = reopened.filter(({ step }) => dependents[step]!.length === 0).length
  // A deadline that has passed would end it again at once.
  const deadlineAt = run.deadlineAt !== null && run.deadlineAt <= now ? null : run.deadlineAt
  const done = reopened.length === 0
  return {
    run: {
      ...run,
      status: done ? 'completed' : 'running',
      openSteps,
      deadlineAt,
      stop: null,
      endsAs: null,
      cause: null,
      finishedAt: done ? now : null,
    },
    steps: stoodIn === null ? reopened : [...reopened, stoodIn],
    queue: reopened.filter(({ status }) => status === 'ready'),
    note: { cause: run.cause === null ? null : JSON.parse(run.cause) },
  }
}

/** `anew`: its effect, or one that it builds on, was undone. `again`: it is tried once more. Undefined: it is kept. */
type Again = 'anew' | 'again' | undefined

function whatRunsAgain({ run, steps, shape }: RunToChange, stoodIn: StoredStep | null): readonly Again[] {
  const again: Again[] = []
  // Numbers are a topological order: what a step depends on comes before it.
  steps.forEach((step, number) => {
    const below = shape.steps[number]!.dependsOn.map((dependency) => again[dependency])
    if (number === stoodIn?.step) {
      if (below.every((kind) => kind === undefined)) return
      throw stepRefusal(
        run,
        step,
        'skipped',
        'steps that it depends on were undone and must run again before it',
        'Retry the run, and skip the step while it waits for its next try.',
      )
    }
    if (step.status === 'compensated' || below.includes('anew')) again[number] = 'anew'
    else if (!isSatisfied(step) || below.includes('again')) again[number] = 'again'
  })
  return again
}

function reopenedStep(step: StoredStep, kind: 'anew' | 'again', openDependencies: number): StepChange {
  const signalled = keepsSignal(step)
  return {
    ...step,
    status: openDependencies === 0 ? 'ready' : 'pending',
    openDependencies,
    // Grows in any case: hints and results of before are then stale, and processes that remember payloads of before read them again.
    fence: step.fence + 1,
    // What it does is another effect, so other systems must be given another idempotency key.
    round: kind === 'anew' ? step.round + 1 : step.round,
    attempts: kind === 'anew' ? 0 : step.attempts,
    failures: 0,
    losses: 0,
    workerId: null,
    undoOf: null,
    undo: null,
    startedAt: kind === 'anew' ? null : step.startedAt,
    finishedAt: kind === 'anew' ? null : step.finishedAt,
    availableAt: null,
    waitingSince: null,
    failingSince: null,
    // What it did in this round is still there, also when the next attempt fails.
    succeeded: kind === 'again' && step.succeeded,
    signalledAt: signalled ? step.signalledAt : null,
    ...(signalled ? {} : { output: null }),
  }
}

/** Its sender will not send it again. Only a step that failed asks anew: what it was told may be why it failed. */
function keepsSignal({ status, undoOf, signalledAt }: StoredStep): boolean {
  return signalledAt !== null && status !== 'failed' && undoOf !== 'failed'
}
