import type { RunToChange, StoredRun } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import { hasNotBegun, type Plan } from './plan.ts'
import { isForward, runRefusal } from './refusal.ts'

/**
 * Stops a run and ends its pause. Also applies to a run that failed or missed its deadline while it was paused, because its undo has not begun.
 * Null if the run has ended or was already stopped: the first cancellation counts.
 *
 * @throws BelayError `action_refused` for a cancellation without undo, if the undo has begun.
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
    'cancel() stops no undo. pause() does; skipCompensation() marks a single step as undone.',
  )
}

function failedWhilePaused({ status, stop, endsAs }: StoredRun): boolean {
  return status === 'paused' && stop === 'failure' && endsAs === null
}
