import { HELD_TURNS, isTerminal, type RunToChange, type StoredStep } from '../../adapter/index.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, isParked, runRefusal } from './refusal.ts'

/**
 * Pauses a run: no step of it is claimed, forward or undo. Each step that has not begun, or whose undo has not begun, gets one more open
 * dependency, which only the resumption removes. Settlements do not check for a pause: a handler in flight ends, and its dependents stay pending.
 * Claims do check, but a claim under way may have checked before the pause: it finds the open dependency once it has locked the step's row. Null if
 * the run is already paused.
 *
 * While the run goes forward, the items of its maps and the rounds of its loops stay as they are: there may be 65,536. Claims of items check under a
 * lock on the run, and the turns of a map that limits its items are held.
 */
export function planPause({ run, steps }: RunToChange): Plan | null {
  if (run.status === 'paused') return null
  if (isTerminal(run.status)) throw runRefusal(run, 'paused')
  const waits = isForward(run) ? stepHasNotBegun : undoHasNotBegun
  const held = steps
    .filter(waits)
    .map(
      (step): StoredStep => ({ ...withTurns(step, HELD_TURNS), openDependencies: step.openDependencies + 1 }),
    )
  return { run: { ...run, status: 'paused' }, steps: held, queue: [] }
}

/**
 * Resumes a run. Queues every claimable step again, because claims during the pause removed its queue rows: also steps that became due, were
 * signalled, or came back from a lost worker meanwhile. If the run was stopped, its undo begins. Null if the run is not paused.
 */
export function planResume({ run, steps, shape }: RunToChange): Plan | null {
  if (run.status !== 'paused') {
    if (isTerminal(run.status)) throw runRefusal(run, 'resumed')
    return null
  }
  const waits = isForward(run) ? stepHasNotBegun : undoHasNotBegun
  const isHeld = (step: StoredStep) => waits(step) && step.openDependencies > 0
  const freed = steps.filter(isHeld).map((step): StoredStep => {
    const openDependencies = step.openDependencies - 1
    const isDue = step.status === 'pending' && openDependencies === 0
    return { ...withTurns(step, -HELD_TURNS), openDependencies, status: isDue ? 'ready' : step.status }
  })
  // Steps that were in flight at the pause and came back since have no extra open dependency.
  const unheld = steps.filter((step) => waits(step) && !isHeld(step))
  const queue = [...unheld, ...freed].filter(isForward(run) ? isReady : waitsForNoUndo)
  if (isForward(run)) {
    const hasItems = shape.steps.some(({ kind }) => kind === 'map' || kind === 'repeat')
    return {
      run: { ...run, status: 'running' },
      steps: freed,
      queue,
      ...(hasItems ? { queuesItems: true } : {}),
    }
  }
  const status = steps.some(isParked) ? 'compensation_failed' : 'compensating'
  return { run: { ...run, status }, steps: freed, queue }
}

/** Items that have not begun are left out. */
function stepHasNotBegun(step: StoredStep): boolean {
  return step.itemKey === undefined && hasNotBegun(step)
}

function undoHasNotBegun({ status, workerId }: StoredStep): boolean {
  return status === 'compensating' && workerId === null
}

/** Takes the turns of a map's items out of reach of the items that end, or brings them back. */
function withTurns(step: StoredStep, added: number): StoredStep {
  const { turns, status } = step
  if (turns === undefined || status !== 'pending') return step
  return { ...step, turns: { ...turns, nextItem: turns.nextItem + added } }
}

function isReady({ status }: StoredStep): boolean {
  return status === 'ready' || status === 'waiting'
}

function waitsForNoUndo({ openDependencies }: StoredStep): boolean {
  return openDependencies === 0
}
