import type { Claim, Outcome } from '@belay/workflow/adapter'

/** The attempt's step completed. */
export function completed(claim: Claim): Outcome {
  return { ...claim, type: 'completed', output: '"done"' }
}

/** The attempt failed for good. */
export function failed(claim: Claim): Outcome {
  const error = { name: 'Error', message: 'no' }
  const cause = { type: 'step_failed', step: 'b', attempt: 1, error }
  return { ...claim, type: 'failed', error: JSON.stringify(error), cause: JSON.stringify(cause) }
}
