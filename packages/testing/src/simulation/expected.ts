import type { Outcome } from '@belay/workflow/adapter'

/** A connection broke, somebody decided otherwise or used the key before with another payload, or the run was pruned. */
export const EXPECTED_REFUSALS: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_contended',
  'decision_conflict',
  'key_conflict',
  'unknown_run',
])

/** Whether a handler may continue after its attempt was released or timed out. */
export function isLetGo(outcome: Outcome): boolean {
  if (outcome.type === 'released') return outcome.begun !== false
  return outcome.type === 'retry' && /"(step|heartbeat)_timeout"/.test(outcome.error)
}

/** Whether its step took effect: one that succeeded must be undone even if its result could not be stored. */
export function hasEffect(outcome: Outcome): boolean {
  if (outcome.type === 'failed') return outcome.succeeded === true
  return outcome.type === 'completed' || outcome.type === 'received' || outcome.type === 'repeated'
}
