import { type ChangedRun, type Outcome, skipText, type Wake } from '@belay/workflow/adapter'
import { changeStep, moveRun } from './change.ts'
import { addItems, addRound, freeNextItem, skipItems } from './items.ts'
import { enqueue, type StepOfRun } from './lease.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { dependenciesOf, dependentsOf, nameOf, rowOf } from './run-rows.ts'
import { goesForward, stopRun } from './stop.ts'

/** What a batch of outcomes changes beyond the settled rows. */
export interface Consequences {
  /** Steps that became claimable because the last step they waited for has ended. */
  readonly unblocked: StepOfRun[]
  /** New statuses of runs, by run id. */
  readonly runs: Map<string, ChangedRun['status']>
  /** True if a step was queued for any worker to claim at once. */
  requeued: boolean
}

/** Records the outcome of an attempt that still holds its step, with its effects on other steps and on the run. */
export function record(
  rows: Rows,
  held: StepOfRun,
  outcome: Exclude<Outcome, { type: 'enters' }>,
  consequences: Consequences,
): void {
  const { run, step } = held
  const finishedAt = rows.now
  switch (outcome.type) {
    case 'completed':
      changeStep(run, step, { status: 'completed', output: outcome.output, finishedAt })
      afterCompletion(rows, held, consequences)
      break
    case 'expanded':
      expand(rows, held, outcome, consequences)
      break
    case 'repeated':
      repeat(rows, held, outcome, consequences)
      break
    case 'received':
      changeStep(run, step, { status: 'completed', finishedAt })
      afterCompletion(rows, held, consequences)
      break
    case 'skipped':
      changeStep(run, step, { status: 'skipped', output: null, branch: outcome.branch, finishedAt })
      skipItems(rows, run, step.step, outcome.branch)
      afterCompletion(rows, held, consequences)
      break
    case 'decided':
      changeStep(run, step, { branch: outcome.branch })
      break
    case 'waiting':
      wait(rows, held, outcome.wake, consequences)
      break
    case 'failed':
      fail(rows, held, outcome, consequences)
      break
    case 'retry':
      changeStep(run, step, failedOnce(step, outcome.error))
      requeue(rows, held, { delayMs: outcome.delayMs, begun: true }, consequences)
      break
    case 'released':
      requeue(rows, held, { delayMs: outcome.delayMs ?? 0, begun: outcome.begun !== false }, consequences)
      break
    default:
      recordUndo(rows, held, outcome, consequences)
  }
}

function recordUndo(
  rows: Rows,
  held: StepOfRun,
  outcome: Extract<Outcome, { type: 'compensated' | 'relayed' | 'compensation_failed' }>,
  consequences: Consequences,
): void {
  const { run, step } = held
  const finishedAt = rows.now
  switch (outcome.type) {
    case 'compensated':
      changeStep(run, step, { status: 'compensated', undo: { ...step.undo!, finishedAt } })
      afterUndo(rows, held, consequences)
      break
    case 'relayed':
      changeStep(run, step, { status: outcome.undoOf, undoOf: null, undo: null })
      afterUndo(rows, held, consequences)
      break
    case 'compensation_failed':
      changeStep(run, step, {
        status: 'compensation_failed',
        undo: { ...step.undo!, error: outcome.error, finishedAt },
      })
      park(rows, run, consequences)
  }
}

function expand(
  rows: Rows,
  held: StepOfRun,
  outcome: Extract<Outcome, { type: 'expanded' }>,
  consequences: Consequences,
): void {
  const { run, step } = held
  changeStep(run, step, { status: 'completed', output: String(outcome.items.length), finishedAt: rows.now })
  if (goesForward(run)) consequences.unblocked.push(...addItems(rows, held, outcome))
  afterCompletion(rows, held, consequences)
}

function repeat(
  rows: Rows,
  held: StepOfRun,
  outcome: Extract<Outcome, { type: 'repeated' }>,
  consequences: Consequences,
): void {
  const { run, step } = held
  changeStep(run, step, { status: 'completed', output: outcome.output, finishedAt: rows.now })
  const next = addRound(rows, held, outcome)
  // A resumption queues what a paused run held back.
  if (next.step.status !== 'ready' || run.status === 'paused') return
  if (outcome.delayMs === 0) consequences.unblocked.push(next)
  else enqueue(rows, next, outcome.delayMs)
}

function fail(
  rows: Rows,
  held: StepOfRun,
  outcome: Extract<Outcome, { type: 'failed' }>,
  consequences: Consequences,
): void {
  const { run, step } = held
  changeStep(run, step, {
    ...{ status: 'failed', error: outcome.error, finishedAt: rows.now, begun: true },
    succeeded: outcome.succeeded === true || step.succeeded,
  })
  if (outcome.continues) {
    skipItems(rows, run, step.step, failedBranch(nameOf(run, step)))
    return afterCompletion(rows, held, consequences)
  }
  if (outcome.pivots?.some((pivot) => run.steps[pivot]?.status === 'completed')) {
    if (run.status === 'running') consequences.runs.set(run.runId, 'parked')
    return
  }
  if (stopRun(rows, run, 'failure', outcome.cause) && run.status === 'compensating') {
    consequences.runs.set(run.runId, run.status)
  }
}

/** Why the rounds of an earlier time are skipped if their loop fails to begin again. */
function failedBranch(dependency: string): string {
  return skipText({ because: 'outcome', dependency, outcome: 'failed' })
}

function afterCompletion(rows: Rows, { run, step }: StepOfRun, consequences: Consequences): void {
  // A late success in a stopped run only has to be undone.
  if (!goesForward(run)) return
  const dependents = dependentsOf(run, step.step)
  // Before its join, which counts the items that are freed only while it is pending.
  if (step.item !== null) consequences.unblocked.push(...freeNextItem(run, step.step))
  for (const number of dependents) unblock(run, run.steps[number]!, 'pending', consequences)
  if (dependents.length > 0) return
  run.openSteps -= 1
  if (run.openSteps > 0) return
  moveRun(rows, run, 'completed')
  consequences.runs.set(run.runId, run.status)
}

function afterUndo(rows: Rows, { run, step }: StepOfRun, consequences: Consequences): void {
  for (const number of dependenciesOf(run, step.step)) {
    unblock(run, rowOf(run, number)!, 'compensating', consequences)
  }
  run.openSteps -= 1
  if (run.openSteps > 0) return
  moveRun(rows, run, run.endsAs!)
  consequences.runs.set(run.runId, run.status)
}

/** Counts one open dependency down. Leaves steps alone that don't wait, because they were cancelled or have nothing to undo. */
function unblock(
  run: RunRow,
  step: StepRow,
  waiting: 'pending' | 'compensating',
  consequences: Consequences,
): void {
  if (step.status !== waiting || step.openDependencies === 0) return
  const openDependencies = step.openDependencies - 1
  const status = openDependencies === 0 && waiting === 'pending' ? 'ready' : waiting
  changeStep(run, step, { openDependencies, status })
  if (openDependencies === 0) consequences.unblocked.push({ run, step })
}

/** What changes when a failure is followed by another attempt, in the step's current direction. */
function failedOnce(step: StepRow, error: string): Partial<StepRow> {
  const { failures, startedAt } = step.undo ?? step
  const failed = { error, failures: failures + 1 }
  return {
    failingSince: failures === 0 ? startedAt : step.failingSince,
    ...(step.undo === null ? failed : { undo: { ...step.undo, ...failed } }),
  }
}

function requeue(
  rows: Rows,
  held: StepOfRun,
  { delayMs, begun }: { readonly delayMs: number; readonly begun: boolean },
  consequences: Consequences,
): void {
  const { run, step } = held
  // An attempt does not count if its handler was not called.
  const counted = (attempts: number) => ({ attempts: begun ? attempts : attempts - 1, finishedAt: rows.now })
  const { undo } = step
  changeStep(run, step, {
    workerId: null,
    availableAt: rows.now + delayMs,
    ...(undo === null
      ? { status: 'ready', begun: begunAfter(step, begun), ...counted(step.attempts) }
      : { undo: { ...undo, ...counted(undo.attempts) } }),
  })
  enqueue(rows, held, delayMs)
  if (delayMs === 0) consequences.requeued = true
}

/** This is certain for a first attempt. Later, it is certain only if it was already certain before. */
function begunAfter(step: StepRow, begun: boolean): boolean | null {
  if (begun || step.begun === true) return true
  return step.fence === 1 ? false : step.begun
}

function wait(rows: Rows, held: StepOfRun, wake: Wake | null, consequences: Consequences): void {
  const { run, step } = held
  const signalled = step.signalledAt !== null
  const wakeAt = wake === null ? null : 'at' in wake ? wake.at : rows.now + wake.afterMs
  const availableAt = signalled ? null : wakeAt
  changeStep(run, step, {
    status: signalled ? 'ready' : 'waiting',
    workerId: null,
    // Each check of a condition counts its own attempts.
    attempts: 0,
    failures: 0,
    losses: 0,
    finishedAt: rows.now,
    waitingSince: step.waitingSince ?? rows.now,
    // Nobody recorded whether this check called a handler. So it is not certain any more that none has begun.
    begun: step.begun === true ? true : null,
    availableAt,
  })
  if (signalled || availableAt !== null) enqueue(rows, held, (availableAt ?? rows.now) - rows.now)
  if (signalled) consequences.requeued = true
}

function park(rows: Rows, run: RunRow, consequences: Consequences): void {
  // A paused run is parked when it is resumed.
  if (run.status !== 'compensating') return
  moveRun(rows, run, 'compensation_failed')
  consequences.runs.set(run.runId, run.status)
}
