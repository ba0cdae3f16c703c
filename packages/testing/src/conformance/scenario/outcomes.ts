import {
  type AttemptRef,
  itemIndex,
  type JsonText,
  type LimitEntry,
  type Outcome,
  RUNS,
  type SkipReason,
  skipText,
  type UndoneStatus,
  type Wake,
} from '@belay/workflow/adapter'

export function completed(attempt: AttemptRef, output: JsonText = '"output"'): Outcome {
  return { ...refOf(attempt), type: 'completed', output }
}

export function failed(attempt: AttemptRef, message = 'broken'): Outcome {
  return { ...refOf(attempt), type: 'failed', error: errorText(message), cause: causeText(attempt, message) }
}

/** A round of a loop, which another one follows. */
export function repeated(attempt: AttemptRef, output: JsonText, delayMs = 0): Outcome {
  const nextItem = { key: String(itemIndex(attempt.step) + 2), value: output }
  return { ...refOf(attempt), type: 'repeated', output, nextItem, delayMs }
}

/** The run continues past the failure. */
export function continued(attempt: AttemptRef, message = 'broken'): Outcome {
  return { ...refOf(attempt), type: 'failed', error: errorText(message), continues: true }
}

/** Its handler returned a result that cannot be stored. */
export function unstorable(attempt: AttemptRef): Outcome {
  const message = 'too large'
  const texts = { error: errorText(message), cause: causeText(attempt, message) }
  return { ...refOf(attempt), type: 'failed', ...texts, succeeded: true }
}

export function retry(attempt: AttemptRef, delayMs: number, message = 'try again'): Outcome {
  return { ...refOf(attempt), type: 'retry', error: errorText(message), delayMs }
}

/** `begun: false`: its handler was not called. */
export function released(attempt: AttemptRef, begun?: boolean): Outcome {
  return { ...refOf(attempt), type: 'released', begun }
}

export function waiting(attempt: AttemptRef, wake: Wake | null = null): Outcome {
  return { ...refOf(attempt), type: 'waiting', wake }
}

export function received(attempt: AttemptRef): Outcome {
  return { ...refOf(attempt), type: 'received' }
}

/** Its definition skips the step. */
export function skipped(attempt: AttemptRef, reason: SkipReason = { because: 'when' }): Outcome {
  return { ...refOf(attempt), type: 'skipped', branch: skipText(reason) }
}

/** Its `when` was true: the attempt goes on. */
export function decided(attempt: AttemptRef): Outcome {
  return { ...refOf(attempt), type: 'decided', branch: RUNS }
}

/** Its handler may begin once these limits have slots for it. */
export function enters(attempt: AttemptRef, ...entries: readonly LimitEntry[]): Outcome {
  return { ...refOf(attempt), type: 'enters', entries }
}

/** A place under a limit, which the attempt takes. */
export function entry(limit: string, key = '', of: LimitEntry['of'] = 'step'): LimitEntry {
  return { limit, key, of }
}

export function compensated(attempt: AttemptRef): Outcome {
  return { ...refOf(attempt), type: 'compensated' }
}

export function relayed(attempt: AttemptRef, undoOf: UndoneStatus = 'completed'): Outcome {
  return { ...refOf(attempt), type: 'relayed', undoOf }
}

export function parked(attempt: AttemptRef, message = 'cannot undo'): Outcome {
  return { ...refOf(attempt), type: 'compensation_failed', error: errorText(message) }
}

export function errorText(message: string): string {
  return JSON.stringify({ name: 'Error', message })
}

export function causeText(attempt: AttemptRef, message: string): string {
  const error = { name: 'Error', message }
  return JSON.stringify({
    type: 'step_failed',
    step: `step ${attempt.step}`,
    attempt: attempt.fence,
    error,
  })
}

export const CANCELLED = JSON.stringify({ type: 'cancelled', reason: 'changed my mind' })

// Only the reference: an outcome does not carry the rest of a claim.
function refOf({ runId, step, fence, direction, definitionId }: AttemptRef): AttemptRef {
  return { runId, step, fence, direction, definitionId }
}
