import { isTerminal, type RunToChange, type StoredStep } from '../../adapter/index.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, isParked, runRefusal } from './refusal.ts'

/**
 * Nothing of a paused run is handed out, neither forward nor back. Each step that has not begun, or whose undo has not, gets one more open
 * dependency, which only the resumption takes away. Settlements don't look at the run: a handler in flight ends, and what follows it stays
 * where it is. Claims do look, but a claim under way may have done so before the pause: it finds the open dependency once it has the step's
 * row. Null when it is paused.
 */
export function planPause({ run, steps }: RunToChange): Plan | null {
  if (run.status === 'paused') return null
  if (isTerminal(run.status)) throw runRefusal(run, 'paused')
  const waits = isForward(run) ? hasNotBegun : undoHasNotBegun
  const held = steps.filter(waits).map((step) => ({ ...step, openDependencies: step.openDependencies + 1 }))
  return { run: { ...run, status: 'paused' }, steps: held, queue: [] }
}

/**
 * Everything that may be claimed is queued afresh, since claims have dropped what they met while the run was paused: also what became due,
 * was signalled, or came back from a lost worker meanwhile. A run that was stopped while it was paused, or before, is undone from now on.
 * Null when it isn't paused.
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
  // What was in flight when the run was paused, and came back since, is held by nothing.
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
