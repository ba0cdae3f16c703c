import { describe } from './rows.ts'
import { isUndoOpen, type Reporter, type RunView, type StepView } from './view.ts'

/** Invariants of steps in an undo, and of their dependents. */
export function undoFacts({ run, steps, stopped }: RunView, report: Reporter): void {
  for (const step of steps) {
    const fact = (name: string, holds: boolean) => {
      if (!holds) report(name, describe(step), step.step)
    }
    const openDependents = step.dependents.filter(({ status }) => isUndoOpen(status)).length
    const leased = step.status === 'compensating' && step.workerId !== null
    fact('undone_in_a_stopped_run_only', stopped || step.undoOf === null)
    fact('undone_after_its_dependents', step.status !== 'compensated' || openDependents === 0)
    fact('undo_leased_after_its_dependents', !leased || openDependents === 0)
    fact(
      'open_dependents_count_is_right',
      step.status !== 'compensating' || isCounted(run.status, step, openDependents),
    )
    fact('undo_started_no_earlier_than_its_dependents_were_undone', run.version > 1 || undoneInOrder(step))
    fact('compensated_run_left_nothing', !isUndoOpen(step.status) || isUndoing(run.status))
  }
}

/** In a run that moved to another version after its undo, a step may have been undone before its dependents in that version. */
function undoneInOrder({ undo, dependents }: StepView): boolean {
  if (undo === null || undo.startedAt === null) return true
  return dependents.every((dependent) => (dependent.undo?.finishedAt ?? 0) <= undo.startedAt!)
}

/** In a paused run, each undo that has not begun also waits for the run to be resumed, unless it came back from a worker after the pause. */
function isCounted(status: string, { openDependencies, workerId }: StepView, open: number): boolean {
  if (status !== 'paused' || workerId !== null) return openDependencies === open
  return openDependencies === open + 1 || (openDependencies === 0 && open === 0)
}

function isUndoing(status: string): boolean {
  return status === 'compensating' || status === 'compensation_failed' || status === 'paused'
}
