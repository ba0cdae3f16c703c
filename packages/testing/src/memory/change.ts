import {
  type ChangedRun,
  isTerminal,
  RUN_TRANSITIONS,
  STEP_TRANSITIONS,
  type StoredRunStatus,
} from '@belay/workflow/adapter'
import type { Rows, RunRow, StepRow } from './rows.ts'

/** A broken invariant: a defect of the store or of its caller. Never caught to carry on. */
export class BrokenInvariantError extends Error {
  override readonly name = 'BrokenInvariantError'
  /** The invariant's name, like the names of the database's CHECK constraints. */
  readonly invariant: string

  constructor(invariant: string, message: string) {
    super(`Invariant ${invariant} is broken: ${message}`)
    this.invariant = invariant
  }
}

export function assertInvariant(holds: boolean, invariant: string, message: () => string): asserts holds {
  if (!holds) throw new BrokenInvariantError(invariant, message())
}

/** Moves a run to another status. Nothing else sets a run's status. */
export function moveRun(rows: Rows, run: RunRow, status: StoredRunStatus): void {
  assertInvariant(
    RUN_TRANSITIONS[run.status].includes(status),
    'run_transition',
    () => `run ${run.runId} cannot go from ${run.status} to ${status}.`,
  )
  run.status = status
  if (!isTerminal(status)) return
  run.finishedAt = rows.now
  rows.liveRuns.delete(run)
  if (run.reportsEnd) rows.keepEnd(run, status)
  assertInvariant(
    run.openSteps === 0,
    'run_end_has_no_open_steps',
    () => `run ${run.runId} ends as ${status} with ${run.openSteps} open steps.`,
  )
}

/** The port's record of a run whose status was changed. */
export function changedRun(rows: Rows, run: RunRow, status: ChangedRun['status'] = run.status): ChangedRun {
  const { runId, definition, key, tags, createdAt, startAt, finishedAt } = run
  const durationMs = Math.max(0, (finishedAt ?? rows.now) - Math.max(createdAt, startAt ?? createdAt))
  const changed = { runId, definitionId: definition.saved.id, status, key, tags, durationMs }
  return run.reportsEnd ? { ...changed, reportsEnd: true } : changed
}

/** Changes a step's row. Every change goes through here, and is checked as the database checks it. */
export function changeStep(run: RunRow, step: StepRow, change: Partial<Omit<StepRow, 'step'>>): void {
  const to = change.status ?? step.status
  assertInvariant(
    to === step.status || STEP_TRANSITIONS[step.status].includes(to),
    'step_transition',
    () => `step ${step.step} of run ${run.runId} cannot go from ${step.status} to ${to}.`,
  )
  Object.assign(step, change)
  assertRow(run, step)
}

/** Checks the invariants of a single step's row. */
export function assertRow(run: RunRow, step: StepRow): void {
  for (const [invariant, holds] of ROW_FACTS) {
    assertInvariant(
      holds(step),
      invariant,
      () => `step ${step.step} of run ${run.runId} is ${JSON.stringify(step)}.`,
    )
  }
}

// These overlap with the CHECK constraints of the database. Each list has some that the other cannot have.
const ROW_FACTS: readonly (readonly [string, (step: StepRow) => boolean])[] = [
  [
    'counters_not_negative',
    (s) => Math.min(s.openDependencies, s.fence, s.attempts, s.failures, s.losses) >= 0,
  ],
  ['pending_has_open_dependencies', (s) => s.status !== 'pending' || s.openDependencies > 0],
  ['ready_has_no_worker', (s) => s.status !== 'ready' || s.workerId === null],
  [
    'running_has_worker_and_no_open_dependencies',
    (s) => s.status !== 'running' || (s.workerId !== null && s.openDependencies === 0),
  ],
  [
    'waiting_has_no_worker',
    (s) => s.status !== 'waiting' || (s.workerId === null && s.waitingSince !== null),
  ],
  ['completed_has_finished_at', (s) => s.status !== 'completed' || s.finishedAt !== null],
  ['failed_has_error', (s) => s.status !== 'failed' || s.error !== null],
  ['undo_of_in_undo_only', (s) => (s.undoOf !== null) === UNDO_STATUSES.has(s.status)],
  ['undo_told_in_undo_only', (s) => (s.undoOf !== null) === (s.undo !== null)],
  [
    'leased_undo_has_no_open_dependents',
    (s) => s.status !== 'compensating' || s.workerId === null || s.openDependencies === 0,
  ],
]

const UNDO_STATUSES: ReadonlySet<string> = new Set(['compensating', 'compensated', 'compensation_failed'])
