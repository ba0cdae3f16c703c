import type { RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { isBuried, sharesFate } from '../base/child-steps.ts'
import { dependentsIn, isContinued, isSettled, type Plan } from './plan.ts'
import { isForward, remedyOfUndo, runRefusal, stepRefusal } from './refusal.ts'

/**
 * Makes a run that ended without completing go forward again. Completed steps are kept. Steps that failed, were cancelled or were undone run again.
 * So do the dependents of an undone step, because their inputs may change. A failed step past which the run went on is kept if a step that was told of
 * its failure is kept. In a run that is parked after its pivot, the steps that failed there run again.
 */
export function planRetryRun(found: RunToChange): Plan {
  const parks = (step: StoredStep) => step.status === 'failed' && !isContinued(found, step)
  if (isForward(found.run) && found.steps.some(parks)) return retryFailed(found, parks)
  assertRetryable(found, 'retried')
  return reopen(found)
}

/**
 * Makes steps that failed after a pivot run again, with all their retries; their dependencies have ended. A map of which too few items completed runs
 * its failed items again: otherwise it could only fail again. In a paused run they begin when it is resumed.
 */
export function retryFailed(found: RunToChange, isOne: (step: StoredStep) => boolean): Plan {
  const { run, steps, shape } = found
  const pauses = run.status === 'paused' ? 1 : 0
  const again = steps.filter(isOne).flatMap((step): readonly StepChange[] => {
    const { kind, dependsOn } = shape.steps[step.step]!
    const failed = kind === 'join' ? dependsOn.map((place) => steps[place]!).filter(isFailed) : []
    const ofItem = step.itemKey === undefined ? pauses : 0
    return [...failed.map((item) => failedAgain(item, 0, 0)), failedAgain(step, failed.length, ofItem)]
  })
  const queue = pauses > 0 ? [] : again.filter(({ openDependencies }) => openDependencies === 0)
  return { run, steps: again, queue }
}

function isFailed({ status }: StoredStep): boolean {
  return status === 'failed'
}

function failedAgain(step: StoredStep, items: number, pauses: number): StepChange {
  return { ...retriedRow(step), status: items === 0 ? 'ready' : 'pending', openDependencies: items + pauses }
}

/** The row of a failed step that runs again. */
export function retriedRow(step: StoredStep): StepChange {
  return reopenedStep(step, 'again', 0)
}

/** Throws unless the run has ended without completing. */
export function assertRetryable({ run }: RunToChange, participle: string): void {
  if (isForward(run)) {
    const remedy =
      'Nothing in it has failed for good. To bring the next try of a step forward, retry that step.'
    throw runRefusal(run, participle, run.status === 'paused' ? 'Resume it.' : remedy)
  }
  if (run.status === 'completed') throw runRefusal(run, participle, 'Start another run.')
  if (isBuried(run)) {
    throw runRefusal(run, participle, 'It is the child of an undone run and never began. Retry its parent.')
  }
  const remedy = remedyOfUndo(run)
  if (remedy !== '') throw runRefusal(run, participle, remedy)
}

/** What an operator wants besides: one step replaced by its skipped row, or one failed step to run again, by number, with what builds on it. */
interface Wanted {
  readonly stoodIn?: StepChange
  readonly again?: number
}

/** The same, with what else the operator wants. */
export function reopen(found: RunToChange, wanted: Wanted = {}): Plan {
  const { run, steps, shape, now } = found
  const { stoodIn } = wanted
  const again = whatRunsAgain(found, wanted)
  const dependents = dependentsIn(found)
  const reopened = steps.flatMap((step, number) => {
    const kind = again[number]
    if (kind === undefined) return []
    const open = shape.steps[number]!.dependsOn.filter((dependency) => again[dependency] !== undefined)
    return [reopenedStep(step, kind, open.length)]
  })
  const openSteps = reopened.filter(({ step }) => dependents[step]!.length === 0).length
  // Drops a deadline that has passed: it would stop the run again at once.
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
    steps: stoodIn === undefined ? reopened : [...reopened, stoodIn],
    queue: reopened.filter(({ status }) => status === 'ready'),
    note: { cause: run.cause === null ? null : JSON.parse(run.cause) },
  }
}

/** `anew`: its effect, or that of a step it depends on, was undone. `again`: it is retried. Undefined: it is kept. */
type Again = 'anew' | 'again' | undefined

function whatRunsAgain(found: RunToChange, { stoodIn, again: wanted }: Wanted): readonly Again[] {
  const { run, steps, shape } = found
  const dependents = dependentsIn(found)
  const again: Again[] = []
  // Numbers are a topological order: the dependencies of a step come before it.
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
    const usedFailure = wanted !== undefined && shape.steps[number]!.dependsOn.includes(wanted)
    if (usedFailure || (wanted !== undefined && below.includes('anew'))) assertNothingStands(found, number)
    const begins = beginsAgain(found, dependents, number)
    if (step.status === 'compensated' || begins === 'anew' || below.includes('anew') || usedFailure)
      again[number] = keepsChildren(found, number) ? 'again' : 'anew'
    else if (!isSettled(found, step) || begins === 'again' || below.includes('again') || number === wanted)
      again[number] = 'again'
  })
  retryUnusedFailures(found, again, stoodIn?.step)
  return again
}

/**
 * Whether a step that decides items or begins a loop does so again. A loop of which a round was undone begins anew. If the step ended while its run
 * was stopping, it has added no items, and those that are there are of an earlier time: none of them has begun.
 */
function beginsAgain(found: RunToChange, dependents: readonly (readonly number[])[], number: number): Again {
  const { steps, shape } = found
  const { kind } = shape.steps[number]!
  if (kind !== 'map' && kind !== 'repeat') return undefined
  const items = itemsOf(found, number).map((place) => steps[place]!)
  if (kind === 'repeat' && items.some(({ status }) => status === 'compensated')) return 'anew'
  const join = steps[dependents[number]!.at(-1)!]!
  const isOpen = steps[number]!.status === 'completed' && !isSettled(found, join)
  return isOpen && items.every(neverBegun) ? 'again' : undefined
}

/**
 * Whether a step has a child that was not undone with its run, because it keeps its effects, or an item or a round of it has. Such a step runs again in
 * its round, so that it finds its child: another one would have the effects twice.
 */
function keepsChildren(found: RunToChange, number: number): boolean {
  const { steps, shape } = found
  const { kind } = shape.steps[number]!
  if (kind === 'map' || kind === 'repeat')
    return itemsOf(found, number).some((place) => hasKeptChild(found, place))
  return steps[number]!.status !== 'compensated' && sharesFate(shape.steps[number]!)
}

function hasKeptChild({ steps, shape }: RunToChange, number: number): boolean {
  return steps[number]!.status === 'completed' && sharesFate(shape.steps[number]!)
}

/** The places of the items that a step decided, which follow it. */
function itemsOf({ steps }: RunToChange, opener: number): readonly number[] {
  const after = steps.findIndex(({ itemKey }, place) => place > opener && itemKey === undefined)
  return Array.from({ length: after - opener - 1 }, (_, index) => opener + 1 + index)
}

function neverBegun({ status, startedAt }: StoredStep): boolean {
  return status === 'cancelled' && startedAt === null
}

/** A step that is to run anew must not leave an effect behind that its compensation would have undone. */
function assertNothingStands({ run, steps, shape }: RunToChange, number: number): void {
  const step = steps[number]!
  if (step.status !== 'completed' || shape.steps[number]!.compensate === 'never') return
  const because = 'it would run anew, with a step on whose failure it builds, and what it did was not undone'
  throw stepRefusal(run, step, 'retried', because)
}

/**
 * A failed step whose dependents all run again, or that has none, runs again too. Those that depend on a step come after it. A loop that failed to
 * begin has told only its join: its rounds are of an earlier time.
 */
function retryUnusedFailures(found: RunToChange, again: Again[], stoodIn: number | undefined): void {
  const dependents = dependentsIn(found)
  for (let number = found.steps.length - 1; number >= 0; number -= 1) {
    if (again[number] !== undefined || number === stoodIn || !isContinued(found, found.steps[number]!))
      continue
    const told = dependents[number]!.filter((dependent) => !isOldRound(found, number, dependent))
    if (told.every((dependent) => again[dependent] !== undefined)) again[number] = 'again'
  }
}

function isOldRound({ steps, shape }: RunToChange, opener: number, dependent: number): boolean {
  return shape.steps[opener]!.kind === 'repeat' && steps[dependent]!.itemKey !== undefined
}

/** Whether the run continued past the failure of this step, and retrying the run would keep it. */
export function keepsFailure(found: RunToChange, step: StoredStep): boolean {
  return isContinued(found, step) && whatRunsAgain(found, {})[step.step] === undefined
}

function reopenedStep(step: StoredStep, kind: 'anew' | 'again', openDependencies: number): StepChange {
  const signalled = keepsSignal(step)
  return {
    ...step,
    status: openDependencies === 0 ? 'ready' : 'pending',
    openDependencies,
    // Always grows: it makes old queue rows and results stale, and processes that cached payloads read them again.
    fence: step.fence + 1,
    // It makes a new effect, so other systems must get a new idempotency key.
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
    // Its effect of this round remains, even if the next attempt fails.
    succeeded: kind === 'again' && step.succeeded,
    // What it was decided on may change, and its next effect is another one.
    branch: kind === 'again' && step.status !== 'skipped' ? step.branch : null,
    signalledAt: signalled ? step.signalledAt : null,
    ...(signalled ? {} : { output: null }),
  }
}

/** Keeps a signal, because its sender will not send it again. Only a failed step asks anew: the signal may be why it failed. */
function keepsSignal({ status, undoOf, signalledAt }: StoredStep): boolean {
  return signalledAt !== null && status !== 'failed' && undoOf !== 'failed'
}
