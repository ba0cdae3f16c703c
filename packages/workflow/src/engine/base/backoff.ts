import type { RetryPolicy } from '../../definition/step.ts'

/** The delay after the n-th failure (n from 1), in milliseconds. */
export function retryDelayMs(policy: RetryPolicy, failures: number, random: () => number): number {
  const plainMs = Math.min(growth(policy, failures), policy.maxMs)
  return Math.round(policy.jitter ? plainMs * (0.5 + random() * 0.5) : plainMs)
}

function growth(policy: RetryPolicy, failures: number): number {
  switch (policy.backoff) {
    case 'constant':
      return policy.initialMs
    case 'linear':
      return policy.initialMs * failures
    case 'exponential':
      // Capped exponent: 2 ** 1024 is Infinity, and 0 * Infinity is not a delay.
      return policy.initialMs * 2 ** Math.min(failures - 1, 60)
  }
}

const OUTAGE_INITIAL_MS = 100
const OUTAGE_MAX_MS = 5_000

/** The delay before the next call to a store that failed to answer n times in a row (n from 1), in milliseconds. */
export function outageDelayMs(tries: number, random: () => number): number {
  const plainMs = Math.min(OUTAGE_INITIAL_MS * 2 ** Math.min(tries - 1, 10), OUTAGE_MAX_MS)
  return Math.round(plainMs * (0.5 + random() * 0.5))
}

const CONFLICT_INITIAL_MS = 10
const CONFLICT_MAX_MS = 1_000

/** The delay before the n-th repetition (n from 1) of a transaction that the store aborted for another one, in milliseconds. */
export function conflictDelayMs(repeats: number, random: () => number): number {
  const plainMs = Math.min(CONFLICT_INITIAL_MS * 2 ** Math.min(repeats - 1, 10), CONFLICT_MAX_MS)
  // Widely spread, so that transactions that conflicted do not conflict again.
  return Math.round(plainMs * random())
}
