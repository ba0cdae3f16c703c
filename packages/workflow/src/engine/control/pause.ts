import { isTerminal, type RunToChange, type StoredStep } from '../../adapter/index.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, isParked, runRefusal } from './refusal.ts'

/**
 * Pauses a run: no step of it is claimed, forward or undo. Each step that has not begun, or whose undo has not begun, gets one more open
 * dependency, which only the resumption removes. Settlements do not check for a pause: a handler in flight ends, and its dependents stay pending.
 * Claims do check, but a claim under way may have checked before the pause: it finds the open dependency once it has locked the step's row. Null if
 * the run is already paused.
 */
export function planPause({ run, steps }: RunToChange): Plan | null {
  if (run.status === 'paused') return null
  if (isTerminal(run.status)) throw runRefusal(run, 'paused')
  const waits = isForward(run) ? hasNotBegun : undoHasNotBegun
  const held = steps.filter(waits).map((step) => ({ ...step, openDependencies: step.openDependencies + 1 }))
  return { run: { ...run, status: 'paused' }, steps: held, queue: [] }
}

/**
 * Resumes a run. Queues every claimable step again, because claims during the pause removed its queue rows: also steps that became due, were
 * signalled, or came back from a lost worker meanwhile. If the run was stopped, its undo begins. Null if the run is not paused.
 */
export function planResume({ run, steps }: RunToChange): Plan | null {
  if (run.status !== 'paused') {
    if (isTerminal(run.status)) throw runRefusal(run, 'resumed')
    return null
  }
  const waits = isForward(run) ? hasNotBegun : undoHasNotBegun
  const isHeld = (step: StoredStep) => waits(step) && step.openDependencies > 0
  const freed = steps.filter(isHeld).map((step): StoredStep => {
    const openDependencies = step.openDependencies - 1
    const isDue = step.status === 'pending' && openDependencies === 0
    return { ...step, openDependencies, status: isDue ? 'ready' : step.status }
  })
  // Steps that were in flight at the pause and came back since have no extra open dependency.
  const unheld = steps.filter((step) => waits(step) && !isHeld(step))
  const queue = [...unheld, ...freed].filter(isForward(run) ? isReady : waitsForNoUndo)
  if (isForward(run)) return { run: { ...run, status: 'running' }, steps: freed, queue }
  const status = steps.some(isParked) ? 'compensation_failed' : 'compensating'
  return { run: { ...run, status }, steps: freed, queue }
}

function undoHasNotBegun({ status, workerId }: StoredStep): boolean {
  return status === 'compensating' && workerId === null
}

function isReady({ status }: StoredStep): boolean {
  return status === 'ready' || status === 'waiting'
}

function waitsForNoUndo({ openDependencies }: StoredStep): boolean {
  return openDependencies === 0
}
