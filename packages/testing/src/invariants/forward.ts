import { describe } from './rows.ts'
import { isOpen, type Reporter, type RunView, type StepView } from './view.ts'

/** Invariants of steps that go forward, and of their dependencies. */
export function forwardFacts(view: RunView, report: Reporter): void {
  for (const step of view.steps) {
    const fact = (name: string, holds: boolean) => {
      if (!holds) report(name, describe(step), step.step)
    }
    if (view.stopped) {
      fact('nothing_open_once_the_undo_has_begun', !view.undoBegun || !isOpen(step.status))
      continue
    }
    const mayStand = isOpen(step.status) || step.isSettled
    fact('running_run_has_no_failed_step', mayStand || (step.status === 'failed' && view.isPastPivot))
    const open = openDependencies(step)
    fact('open_dependencies_count_is_right', !isOpen(step.status) || isCounted(view, step, open))
    fact('map_keeps_its_limit', keepsLimit(step))
    fact('started_after_its_dependencies', step.status === 'pending' || open === 0)
    fact('started_no_earlier_than_its_dependencies_ended', view.run.version > 1 || startedInOrder(step))
  }
}

/**
 * An item that an operator skipped cannot free the next one: then one more may be under way. Nor can those that had ended before a retry of the run, after
 * which the join has a fence.
 */
function keepsLimit({ status, turns, dependencies, fence }: StepView): boolean {
  if (turns === undefined || status !== 'pending') return true
  const items = dependencies.filter(({ itemKey }) => itemKey !== undefined)
  const underWay = items.filter((item) => isOpen(item.status) && item.status !== 'pending').length
  const freesNone = items.filter((item) => item.status === 'skipped' || (fence > 0 && item.isSettled))
  return underWay <= turns.atOnce + freesNone.length
}

/** In a run that moved to another version, a step may depend on one that ended later. */
function startedInOrder({ status, startedAt, dependencies }: StepView): boolean {
  if (startedAt === null || (status !== 'running' && status !== 'completed')) return true
  return dependencies.every(({ finishedAt }) => finishedAt === null || finishedAt <= startedAt)
}

/** In a paused run, each step also waits for the run to be resumed, unless it came back from a worker after the pause. */
function isCounted({ run }: RunView, step: StepView, open: number): boolean {
  const { status, openDependencies, itemKey, isRound } = step
  // A pending item waits for its turn, or in a paused run for the resumption, or for both. Only a map that runs again has items before it has ended:
  // they wait for it, as other steps do.
  if (itemKey !== undefined && !isRound && status === 'pending' && open === 0) {
    return openDependencies === open + 1 || (run.status === 'paused' && openDependencies === open + 2)
  }
  if (run.status !== 'paused' || status === 'running') return openDependencies === open
  return openDependencies === open + 1 || (status !== 'pending' && openDependencies === open)
}

/** A join waits for its map alone until the map has decided its items: those of an earlier round do not count. */
function openDependencies(step: StepView): number {
  const map = step.dependencies.filter(({ itemKey }) => itemKey === undefined)
  const isDecided = map.every(({ isSettled }) => isSettled)
  return (isDecided ? step.dependencies : map).filter(({ isSettled }) => !isSettled).length
}
