import type { Adapter, RunToChange, StoredRun } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import { BelayError } from '../../errors.ts'
import type { Actor } from './change-of.ts'
import { hasNotBegun, isPastPivot, type Plan } from './plan.ts'
import { isForward, runRefusal } from './refusal.ts'

/**
 * Stops a run and ends its pause. Also applies to a run that failed or missed its deadline while it was paused, because its undo has not begun.
 * Null if the run has ended or was already stopped: the first cancellation counts.
 *
 * @throws BelayError `action_refused` for a cancellation without undo, if the undo has begun; for one with undo, if a pivot has completed.
 */
export function planCancel(
  found: RunToChange,
  { compensate, reason }: { readonly compensate: boolean; readonly reason: string | null },
): Plan | null {
  const { run, steps } = found
  if (isForward(run) || failedWhilePaused(run)) {
    if (compensate && isForward(run)) assertUndoable(found)
    const earlier = run.cause === null ? {} : { cause: JSON.parse(run.cause) }
    return {
      run: { ...run, status: 'compensating', ...stopOf(reason, compensate) },
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
    'A cancellation stops no undo. A pause does; a single step can be marked as undone.',
  )
}

/** The same for runs that are stopped without looking at them first, as the store takes it. */
export function cancellation(
  by: Actor,
  compensate: boolean,
): Omit<Parameters<Adapter['cancelRuns']>[0], 'runIds'> {
  const change = JSON.stringify({ compensate })
  return { ...stopOf(by.reason, compensate), entry: { action: 'cancel', ...by, change } }
}

function stopOf(reason: string | null, compensate: boolean) {
  const cause: RunCause = { type: 'cancelled', reason: reason ?? undefined }
  return { stop: compensate ? 'cancellation' : 'abandonment', cause: JSON.stringify(cause) } as const
}

function assertUndoable(found: RunToChange): void {
  if (!isPastPivot(found)) return
  const { run, steps, shape } = found
  const pivot = steps.find(({ status }, number) => status === 'completed' && shape.steps[number]!.pivot)!
  const refusal = `cannot be cancelled: its pivot "${pivot.name}" has completed, so it cannot be undone any more.`
  throw new BelayError('action_refused', `Run ${run.runId} ${refusal}`, {
    runId: run.runId,
    refusal,
    step: pivot.name,
    remedy:
      'Let it go on, or cancel it without its undo (`compensate: false`), which leaves every effect as it is.',
  })
}

export function failedWhilePaused({ status, stop, endsAs }: StoredRun): boolean {
  return status === 'paused' && stop === 'failure' && endsAs === null
}
