import { isTerminal, type StepStatus } from '@belay/workflow/adapter'
import { isOpen, isUndoOpen, type Reporter, type RunView } from './view.ts'

/** Invariants of a run's row and its steps. */
export function runFacts(view: RunView, report: Reporter): void {
  const { run, steps } = view
  const any = (predicate: (status: StepStatus) => boolean) => steps.some(({ status }) => predicate(status))
  const fact = (name: string, holds: boolean) => {
    if (!holds) report(name, `it is ${run.status}, but its steps are ${steps.map(({ status }) => status)}.`)
  }
  const ended = isTerminal(run.status)
  fact('ended_run_has_finished_at', !ended || run.finishedAt !== null)
  fact(
    'live_run_has_no_finished_at',
    ended || run.finishedAt === null || run.status === 'compensation_failed',
  )
  fact('ended_run_has_no_open_step', !ended || !any((status) => isOpen(status) || isUndoOpen(status)))
  fact('stopped_run_has_a_cause', view.stopped === (run.cause !== null))
  const lastEnd = Math.max(
    ...steps.map(({ finishedAt, undo }) => Math.max(finishedAt ?? 0, undo?.finishedAt ?? 0)),
  )
  fact('run_finished_after_created', run.finishedAt === null || run.finishedAt >= run.createdAt)
  fact('run_ends_no_earlier_than_its_steps', run.finishedAt === null || run.finishedAt >= lastEnd)
  const allSettled = steps.every(({ isSettled }) => isSettled)
  fact('completed_run_has_completed_steps', run.status !== 'completed' || allSettled)
  fact('run_completes_with_its_last_step', view.stopped || run.status === 'completed' || !allSettled)
  fact('failed_run_undid_nothing', run.status !== 'failed' || steps.every(({ undoOf }) => undoOf === null))
  fact(
    'parked_iff_an_undo_failed',
    run.status === 'paused' || (run.status === 'compensation_failed') === any(isParked),
  )
  storedFacts(view, fact)
}

function storedFacts({ run, steps, stored, stopped }: RunView, fact: (name: string, holds: boolean) => void) {
  if (stored === undefined) return
  fact('stop_says_why_it_stopped', stopped === (stored.stop !== null))
  fact('undo_ends_stopped_runs_only', stored.endsAs === null || stopped)
  if (isTerminal(run.status)) fact('ended_run_has_no_open_steps_count', stored.openSteps === 0)
  else if (stored.endsAs !== null) {
    const openUndos = steps.filter(({ status }) => isUndoOpen(status)).length
    fact('open_steps_count_open_undos', stored.openSteps === openUndos)
  } else if (!stopped) {
    const openSinks = steps.filter((step) => step.dependents.length === 0 && !step.isSettled)
    fact('open_steps_count_open_sinks', stored.openSteps === openSinks.length)
  }
}

function isParked(status: StepStatus): boolean {
  return status === 'compensation_failed'
}
