import type { RunToChange } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { Plan } from './plan.ts'
import { runRefusal } from './refusal.ts'

/**
 * Cancels a run that goes forward no more: one that failed, or whose deadline passed, while it was paused, and whose undo has not begun. Its
 * pause ends with it. Null for a run that is over, or stopped already. What goes forward is cancelled by the store's `cancelRuns`.
 *
 * @throws BelayError `action_refused` when the undo is to be left out, and can't be any more.
 */
export function planCancel(
  found: RunToChange,
  { compensate, reason }: { readonly compensate: boolean; readonly reason: string | null },
): Plan | null {
  const { run } = found
  // The first cancellation counts.
  if (run.status === 'paused' && run.stop === 'failure' && run.endsAs === null) {
    const cause: RunCause = { type: 'cancelled', reason: reason ?? undefined }
    return {
      run: {
        ...run,
        status: 'compensating',
        stop: compensate ? 'cancellation' : 'abandonment',
        cause: JSON.stringify(cause),
      },
      steps: [],
      queue: [],
      note: { compensate, cause: run.cause === null ? null : JSON.parse(run.cause) },
    }
  }
  const isOver = run.finishedAt !== null
  if (compensate || isOver || run.stop === 'abandonment') return null
  throw runRefusal(
    run,
    'cancelled without its undo',
    'cancel() stops no undo. pause() does; skipCompensation() takes a single step for undone.',
  )
}
