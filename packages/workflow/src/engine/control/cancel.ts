import type { RunToChange, StoredRun } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, runRefusal } from './refusal.ts'

/**
 * Stops a run, with all that has not begun in it, and ends its pause. It does so too when the run failed, or its deadline passed, while it was
 * paused: its undo has not begun. Null for a run that is over, or stopped otherwise: the first cancellation counts.
 *
 * @throws BelayError `action_refused` when the undo is to be left out, and can't be any more.
 */
export function planCancel(
  { run, steps }: RunToChange,
  { compensate, reason }: { readonly compensate: boolean; readonly reason: string | null },
): Plan | null {
  if (isForward(run) || failedWhilePaused(run)) {
    const cause: RunCause = { type: 'cancelled', reason: reason ?? undefined }
    const earlier = run.cause === null ? {} : { cause: JSON.parse(run.cause) }
    return {
      run: {
        ...run,
        status: 'compensating',
        stop: compensate ? 'cancellation' : 'abandonment',
        cause: JSON.stringify(cause),
      },
      steps: steps.filter(hasNotBegun).map((step) => ({ ...step, status: 'cancelled' })),
      queue: [],
      note: { compensate, ...earlier },
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

function failedWhilePaused({ status, stop, endsAs }: StoredRun): boolean {
  return status === 'paused' && stop === 'failure' && endsAs === null
}
