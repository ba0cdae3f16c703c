import type {
  BegunUndo,
  Claim,
  DrainedRun,
  Lease,
  StepStatus,
  UndoneStatus,
  UndoPlan,
  UndoRecord,
} from '@belay/workflow/adapter'
import { assertInvariant, changedRun, changeStep, moveRun } from './change.ts'
import { byRunAndStep, enqueue, lease as leaseStep, type StepOfRun } from './lease.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { cancelUnstarted } from './stop.ts'
import { isLive } from './workers.ts'

export function drain(
  rows: Rows,
  request: {
    definitionIds: readonly number[]
    runIds?: readonly string[] | undefined
    limit: number
  },
): readonly DrainedRun[] {
  const definitionIds = new Set(request.definitionIds)
  const runIds = request.runIds === undefined ? undefined : new Set(request.runIds)
  const drained: DrainedRun[] = []
  for (const run of rows.liveRunsByAge()) {
    if (drained.length >= request.limit) break
    if (!isDraining(run) || !definitionIds.has(run.definition.saved.id)) continue
    if (runIds !== undefined && !runIds.has(run.runId)) continue
    // A retry or a lost worker may have requeued steps since the run was stopped.
    cancelUnstarted(rows, run)
    if (isDrained(run)) drained.push(describe(run))
  }
  return drained
}

export function beginUndo(rows: Rows, plans: readonly UndoPlan[], lease?: Lease): readonly BegunUndo[] {
  const due: StepOfRun[] = []
  const begun = plans.flatMap((plan) => {
    const run = rows.runs.get(plan.runId)
    if (run === undefined || !isDraining(run) || !isDrained(run)) return []
    if (plan.fences !== undefined && plan.fences !== fencesOf(run)) return []
    // The plan was made before the failed run was cancelled, so it may undo other steps.
    if ((plan.endsAs === 'cancelled') !== (run.stop !== 'failure')) return []
    due.push(...begin(rows, run, plan))
    return [run]
  })
  const claims = handOut(rows, due, lease)
  return begun.map((run) => {
    const moved = changedRun(rows, run)
    const own = claims.filter(({ runId }) => runId === run.runId)
    return lease === undefined ? moved : { ...moved, claims: own }
  })
}

function handOut(rows: Rows, due: readonly StepOfRun[], lease: Lease | undefined): readonly Claim[] {
  const sorted = [...due].sort(byRunAndStep)
  const isTaken = lease !== undefined && isLive(rows, lease.workerId)
  const taken = isTaken ? sorted.slice(0, lease.handBackMax) : []
  for (const step of sorted.slice(taken.length)) enqueue(rows, step)
  return taken.map((step) => leaseStep(rows, step, lease!.workerId))
}

/** The run was stopped, and its undo has not begun. */
function isDraining(run: RunRow): boolean {
  return run.status === 'compensating' && run.endsAs === null
}

function isDrained(run: RunRow): boolean {
  return run.steps.every(({ status }) => !NOT_ENDED.has(status))
}

const NOT_ENDED: ReadonlySet<StepStatus> = new Set(['pending', 'ready', 'running', 'waiting'])

const UNDO_BEGUN: UndoRecord = {
  attempts: 0,
  failures: 0,
  losses: 0,
  startedAt: null,
  finishedAt: null,
  error: null,
  skipped: false,
}

/** Begins the undo. Returns the undos that wait for nothing. */
function begin(rows: Rows, run: RunRow, plan: UndoPlan): readonly StepOfRun[] {
  const undos = undoableSteps(run, plan)
  run.endsAs = plan.endsAs
  run.openSteps = undos.length
  for (const { step, undoOf, openDependencies } of undos) {
    changeStep(run, step, {
      status: 'compensating',
      undoOf,
      openDependencies,
      undo: UNDO_BEGUN,
      workerId: null,
      // This instant was about forward attempts. No retry of the undo has been delayed.
      availableAt: null,
    })
  }
  if (undos.length === 0) moveRun(rows, run, plan.endsAs)
  return undos.filter(({ openDependencies }) => openDependencies === 0).map(({ step }) => ({ run, step }))
}

/** The rows of a plan's steps. All are checked before anything is changed. */
function undoableSteps(
  run: RunRow,
  plan: UndoPlan,
): readonly { readonly step: StepRow; readonly undoOf: UndoneStatus; readonly openDependencies: number }[] {
  const planned = new Set<number>()
  return plan.undos.map(({ step: number, openDependents }) => {
    const step = run.steps[number]
    assertInvariant(
      step !== undefined && isEnded(step.status) && !planned.has(number),
      'plan_names_ended_steps_once',
      () => `the plan for run ${run.runId} undoes step ${number}, which is ${step?.status ?? 'unknown'}.`,
    )
    planned.add(number)
    return { step, undoOf: step.status as UndoneStatus, openDependencies: openDependents }
  })
}

function isEnded(status: StepStatus): status is UndoneStatus {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled'
}

function describe(run: RunRow): DrainedRun {
  return {
    runId: run.runId,
    definitionId: run.definition.saved.id,
    stop: run.stop!,
    fences: fencesOf(run),
    steps: run.steps.map(({ step, status, startedAt, begun, succeeded, branch }) => ({
      step,
      status,
      started: begun ?? startedAt !== null,
      succeeded,
      ...(branch === null ? {} : { decided: true }),
    })),
  }
}

/** Grows with every claim, and with every step that is sent forward again. */
function fencesOf(run: RunRow): number {
  return run.steps.reduce((sum, { fence }) => sum + fence, 0)
}
