import type { RunToChange } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import { isPastPivot, type Plan } from './plan.ts'
import { runRefusal } from './refusal.ts'

/**
 * Undoes a completed run, because its parent is undone: like a cancellation right before its end. Null if its undo has begun or has ended.
 *
 * @throws BelayError `action_refused` while the run goes forward.
 */
export function planUndoRun(found: RunToChange, reason: string | null): Plan | null {
  const { run } = found
  if (run.stop !== null) return null
  if (run.status !== 'completed') throw runRefusal(run, 'undone', 'Cancel it.')
  if (isPastPivot(found)) throw runRefusal(run, 'undone', 'Its pivot has completed, so it keeps its effects.')
  const cause: RunCause = { type: 'cancelled', reason: reason ?? undefined }
  return {
    run: {
      ...run,
      status: 'compensating',
      stop: 'cancellation',
      cause: JSON.stringify(cause),
      finishedAt: null,
      // Its deadline was for its way forward.
      deadlineAt: null,
    },
    steps: [],
    queue: [],
  }
}
