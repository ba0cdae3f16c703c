import type { RunToChange, StepStatus, StoredStep } from '../../adapter/index.ts'
import type { Plan } from './plan.ts'
import { isForward, remedyOfUndo, runRefusal } from './refusal.ts'

/**
 * Nothing of a paused run is handed out. Each step that has not begun gets one more open dependency, which only the resumption takes away.
 * Settlements don't look at the run: a handler in flight ends, and its dependents stay where they are. Claims do look, but a claim under way
 * may have done so before the pause: it finds the open dependency once it has the step's row. Null when it is paused.
 */
export function planPause({ run, steps }: RunToChange): Plan | null {
  if (run.status === 'paused') return null
  if (!isForward(run)) throw runRefusal(run, 'paused', remedyOfUndo(run))
  const held = steps
    .filter(({ status }) => HELD.has(status))
    .map((step) => ({ ...step, openDependencies: step.openDependencies + 1 }))
  return { run: { ...run, status: 'paused' }, steps: held, queue: [] }
}

/**
 * Everything that is ready or waits is queued afresh, since claims have dropped what they met while the run was paused: also what became due,
 * was signalled, or came back from a lost worker meanwhile. Null when it goes forward already.
 */
export function planResume({ run, steps }: RunToChange): Plan | null {
  if (run.status !== 'paused') {
    if (isForward(run)) return null
    throw runRefusal(run, 'resumed', remedyOfUndo(run))
  }
  const isHeld = ({ status, openDependencies }: StoredStep) => HELD.has(status) && openDependencies > 0
  const freed = steps.filter(isHeld).map((step): StoredStep => {
    const openDependencies = step.openDependencies - 1
    const isDue = step.status === 'pending' && openDependencies === 0
    return { ...step, openDependencies, status: isDue ? 'ready' : step.status }
  })
  // What was running when the run was paused, and came back since, is held by nothing.
  const unheld = steps.filter((step) => !isHeld(step))
  const queue = [...unheld, ...freed].filter(({ status }) => status === 'ready' || status === 'waiting')
  return { run: { ...run, status: 'running' }, steps: freed, queue }
}

/** Where a pause finds steps that have not begun, or wait between two attempts. */
const HELD: ReadonlySet<StepStatus> = new Set(['pending', 'ready', 'waiting'])
