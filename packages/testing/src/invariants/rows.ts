import type { StepStatus, UndoRecord } from '@belay/workflow/adapter'
import type { Reporter, RunView, StepView } from './view.ts'

const IN_UNDO: ReadonlySet<StepStatus> = new Set(['compensating', 'compensated', 'compensation_failed'])
const ENDED: ReadonlySet<StepStatus> = new Set(['completed', 'failed'])
const UNDONE: ReadonlySet<StepStatus> = new Set(['compensated', 'compensation_failed'])

type Fact = readonly [name: string, holds: (step: StepView) => boolean]

// Invariants of a single step's row.
const FACTS: readonly Fact[] = [
  [
    'counters_not_negative',
    (s) => Math.min(s.openDependencies, s.fence, s.attempts, s.failures, s.losses) >= 0,
  ],
  ['fence_covers_attempts', (s) => s.fence >= s.attempts],
  ['attempts_cover_failures_and_losses', (s) => s.attempts >= s.failures + s.losses],
  ['undo_told_in_an_undo_only', (s) => (s.undo !== null) === (s.undoOf !== null)],
  [
    'attempts_of_the_undo_cover_failures_and_losses',
    (s) => s.undo === null || s.undo.attempts >= s.undo.failures + s.undo.losses,
  ],
  ['undo_finished_after_started', (s) => s.undo === null || inOrder(s.undo.startedAt, s.undo.finishedAt)],
  ['pending_waits_for_something', (s) => s.status !== 'pending' || s.openDependencies > 0],
  ['ready_has_no_worker', (s) => s.status !== 'ready' || s.workerId === null],
  [
    'running_has_a_worker',
    (s) => s.status !== 'running' || (s.workerId !== null && s.attempts > 0 && s.startedAt !== null),
  ],
  ['running_waits_for_nothing', (s) => s.status !== 'running' || s.openDependencies === 0],
  ['running_has_not_finished', (s) => s.status !== 'running' || s.finishedAt === null],
  ['ended_has_an_attempt', (s) => !ENDED.has(s.status) || (s.attempts > 0 && s.startedAt !== null)],
  ['ended_has_finished_at', (s) => !ENDED.has(s.status) || s.finishedAt !== null],
  ['undone_has_an_attempt', (s) => !isUndone(s) || s.undo.skipped || s.undo.attempts > 0],
  ['undone_has_finished_at', (s) => !isUndone(s) || s.undo.finishedAt !== null],
  ['finished_after_started', (s) => inOrder(s.startedAt, s.finishedAt)],
  ['failed_has_an_error', (s) => s.status !== 'failed' || s.error !== null],
  ['undo_skipped_of_the_undone_only', (s) => s.undo?.skipped !== true || s.status === 'compensated'],
  ['undo_of_in_an_undo_only', (s) => (s.undoOf !== null) === IN_UNDO.has(s.status)],
  [
    'waiting_has_no_worker_and_a_beginning',
    (s) => s.status !== 'waiting' || (s.workerId === null && s.waitingSince !== null && s.fence > 0),
  ],
  ['waiting_has_no_signal', (s) => s.status !== 'waiting' || s.signalledAt === null],
  ['no_output_without_completion', (s) => s.output === null || hasCompleted(s) || s.signalledAt !== null],
]

export function rowFacts({ steps }: RunView, report: Reporter): void {
  for (const step of steps) {
    for (const [name, holds] of FACTS) if (!holds(step)) report(name, describe(step), step.step)
  }
}

function isUndone(step: StepView): step is StepView & { readonly undo: UndoRecord } {
  return UNDONE.has(step.status) && step.undo !== null
}

function inOrder(startedAt: number | null, finishedAt: number | null): boolean {
  return startedAt === null || finishedAt === null || finishedAt >= startedAt
}

/** Or it was given an output: a stand-in by an operator, or a signal's payload. */
function hasCompleted({ status, undoOf, signalledAt }: StepView): boolean {
  return (
    status === 'completed' ||
    undoOf === 'completed' ||
    status === 'skipped' ||
    undoOf === 'skipped' ||
    signalledAt !== null
  )
}

export function describe({ dependencies, dependents, ...row }: StepView): string {
  return JSON.stringify(row, (key, value) => (key === 'output' && value !== null ? '…' : value))
}
