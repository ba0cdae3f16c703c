import { type AttemptRef, type Claim, leadOf, placeOf } from '@belay/workflow/adapter'
import { assertInvariant, changeStep } from './change.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { rowOf, rowsOf } from './run-rows.ts'

/** A step and its run. */
export interface StepOfRun {
  readonly run: RunRow
  readonly step: StepRow
}

/** Whether a step may be leased: forward only while its run goes forward, an undo once its dependents have ended. */
export function isClaimable({ run, step }: StepOfRun): boolean {
  if (step.openDependencies > 0) return false
  if (step.status === 'ready' || step.status === 'waiting') return run.status === 'running'
  const undoing = run.status === 'compensating' || run.status === 'compensation_failed'
  return undoing && step.status === 'compensating' && step.workerId === null
}

/** Leases a claimable step to a worker, which begins a new attempt. */
export function lease(rows: Rows, { run, step }: StepOfRun, workerId: string): Claim {
  assertInvariant(
    isClaimable({ run, step }),
    'only_claimable_steps_are_leased',
    () => `step ${step.step} of run ${run.runId} is ${step.status} in a ${run.status} run.`,
  )
  rows.changes += 1
  const begun = { startedAt: rows.now, finishedAt: null }
  const { undo } = step
  changeStep(run, step, {
    status: step.status === 'compensating' ? 'compensating' : 'running',
    fence: step.fence + 1,
    workerId,
    ...(undo === null
      ? { attempts: step.attempts + 1, ...begun }
      : { undo: { ...undo, attempts: undo.attempts + 1, ...begun } }),
  })
  return claimOf({ run, step })
}

/** Queues a step for any worker to claim, `delayMs` from now. */
export function enqueue(rows: Rows, queued: StepOfRun, delayMs = 0): void {
  enqueueAt(rows, queued, rows.now + delayMs)
}

/** Queues a step that is ready from this instant on. */
export function enqueueAt(rows: Rows, { run, step }: StepOfRun, readyAt: number): void {
  const entry = {
    definitionId: run.definition.saved.id,
    availableAt: placeOf(readyAt, step, rows.now),
    runId: run.runId,
    step: step.step,
  }
  rows.queue.enter(entry)
  if (readyAt <= rows.now || leadOf(step) === 0) return
  rows.lateSteps.add({ ...entry, fence: step.fence, place: placeOf(readyAt, step, readyAt) })
}

/**
 * When a queued step became ready. Its place is as much before as its lead, unless it was due later than it was queued, or was parked at a limit: then
 * the step has the instant.
 */
export function readyAt(step: StepRow, place: number): number {
  const { availableAt } = step
  return availableAt !== null && availableAt >= place ? availableAt : place + leadOf(step) * 60_000
}

/** Gives queued steps that have become due meanwhile their places. */
export function placeLateSteps(rows: Rows): void {
  for (const late of rows.lateSteps) {
    if (late.availableAt > rows.now) continue
    rows.lateSteps.delete(late)
    rows.changes += 1
    const run = rows.runs.get(late.runId)
    const isSame = run !== undefined && rowOf(run, late.step)?.fence === late.fence
    if (isSame) rows.queue.advance({ ...late, availableAt: late.place })
  }
}

export function isLeased(step: StepRow): boolean {
  return step.workerId !== null && (step.status === 'running' || step.status === 'compensating')
}

/** The steps that a worker holds, in a stable order. */
export function leasedSteps(rows: Rows, workerId: string): readonly StepOfRun[] {
  return rows.liveRunsByAge().flatMap((run) =>
    rowsOf(run)
      .filter((step) => step.workerId === workerId && isLeased(step))
      .map((step) => ({ run, step })),
  )
}

export function claimOf({ run, step }: StepOfRun): Claim {
  const { undoOf, round } = step
  const { attempts: attempt, failures, losses } = step.undo ?? step
  return { ...attemptOf({ run, step }), round, attempt, failures, losses, undoOf }
}

function attemptOf({ run, step }: StepOfRun): AttemptRef {
  return {
    runId: run.runId,
    step: step.step,
    fence: step.fence,
    direction: step.undoOf === null ? 'forward' : 'undo',
    definitionId: run.definition.saved.id,
  }
}

/** The order in which steps are leased. */
export function byRunAndStep(one: StepOfRun, other: StepOfRun): number {
  if (one.run === other.run) return one.step.step - other.step.step
  return one.run.runId < other.run.runId ? -1 : 1
}
