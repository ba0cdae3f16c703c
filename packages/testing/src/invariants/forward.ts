import { HELD_TURNS } from '@belay/workflow/adapter'
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
    fact('turns_are_held_in_a_paused_run_alone', holdsTurns(view, step))
    fact('map_wastes_no_turn', wastesNoTurn(view, step))
    fact('started_after_its_dependencies', step.status === 'pending' || open === 0)
    fact('started_no_earlier_than_its_dependencies_ended', view.run.version > 1 || startedInOrder(step))
  }
}

/** In a paused run, an item that ends makes no other one ready. */
function holdsTurns({ run }: RunView, step: StepView): boolean {
  if (step.turns === undefined || step.status !== 'pending' || !isDecided(step)) return true
  return (run.status === 'paused') === step.turns.nextItem >= HELD_TURNS
}

/** No more items are under way than may be. */
function keepsLimit(step: StepView): boolean {
  return step.turns === undefined || step.status !== 'pending' || underWay(step).length <= step.turns.atOnce
}

/** No item waits for its turn while another one may begin. In a paused run nothing begins. */
function wastesNoTurn({ run }: RunView, step: StepView): boolean {
  const { turns, status, dependencies } = step
  if (turns === undefined || status !== 'pending' || run.status === 'paused' || !isDecided(step)) return true
  const waits = dependencies.some((item) => item.itemKey !== undefined && item.status === 'pending')
  return !waits || underWay(step).length === turns.atOnce
}

/** Whether the map of this join has decided its items. */
function isDecided({ dependencies }: StepView): boolean {
  return dependencies.every(({ itemKey, isSettled }) => itemKey !== undefined || isSettled)
}

/** Items that have begun, or may, and have not ended. One that failed after a pivot keeps its turn until an operator has acted. */
function underWay({ dependencies }: StepView): StepView['dependencies'] {
  return dependencies.filter(
    ({ itemKey, status, isSettled }) => itemKey !== undefined && status !== 'pending' && !isSettled,
  )
}

/** In a run that moved to another version, a step may depend on one that ended later. */
function startedInOrder({ status, startedAt, dependencies }: StepView): boolean {
  if (startedAt === null || (status !== 'running' && status !== 'completed')) return true
  return dependencies.every(({ finishedAt }) => finishedAt === null || finishedAt <= startedAt)
}

/** In a paused run, each step also waits for the run to be resumed, unless it came back from a worker after the pause. Items do not. */
function isCounted({ run }: RunView, step: StepView, open: number): boolean {
  const { status, openDependencies, itemKey, isRound } = step
  // A pending item waits for its turn. Only a map that runs again has items before it has ended: they wait for it, as other steps do.
  if (itemKey !== undefined) {
    const waitsForTurn = !isRound && status === 'pending' && open === 0
    return openDependencies === (waitsForTurn ? 1 : open)
  }
  if (run.status !== 'paused' || status === 'running') return openDependencies === open
  return openDependencies === open + 1 || (status !== 'pending' && openDependencies === open)
}

/** A join waits for its map alone until the map has decided its items: those of an earlier round do not count. */
function openDependencies(step: StepView): number {
  const map = step.dependencies.filter(({ itemKey }) => itemKey === undefined)
  const hasDecided = map.every(({ isSettled }) => isSettled)
  return (hasDecided ? step.dependencies : map).filter(({ isSettled }) => !isSettled).length
}
