import type { RunToChange } from '../../adapter/index.ts'
import type { Plan } from './plan.ts'
import { isForward, remedyOfUndo, runRefusal } from './refusal.ts'

/**
 * Nothing of a paused run is handed out. Claims look at the run; settlements don't, so each step that waits for others gets one more to wait
 * for, which only the resumption takes away: a handler in flight ends, and its dependents stay where they are. Null when it is paused.
 */
export function planPause({ run, steps }: RunToChange): Plan | null {
  if (run.status === 'paused') return null
  if (!isForward(run)) throw runRefusal(run, 'paused', remedyOfUndo(run))
  const held = steps
    .filter(({ status }) => status === 'pending')
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
  const freed = steps
    .filter(({ status }) => status === 'pending')
    .map((step) => {
      const openDependencies = step.openDependencies - 1
      return { ...step, openDependencies, status: openDependencies === 0 ? 'ready' : step.status }
    })
  const idle = steps.filter(({ status }) => status === 'ready' || status === 'waiting')
  return {
    run: { ...run, status: 'running' },
    steps: freed,
    queue: [...idle, ...freed.filter(({ status }) => status === 'ready')],
  }
}
