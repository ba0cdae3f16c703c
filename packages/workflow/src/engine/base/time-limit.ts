import type { RetryPolicy } from '../../definition/step.ts'

/** How long an attempt may take, and which option says so. Milliseconds, at least 1. */
export interface TimeLimit {
  readonly ms: number
  readonly option: 'timeout' | 'retry.for'
}

/**
 * The timeout of an attempt, or what is left of its `retry.for`, whichever ends first; null for neither. `over`: nothing is left of
 * `retry.for`, so that the attempt is not to begin any more. `failingMs` is how long ago the first attempt of this series of failures began.
 */
export function timeLimit(
  { retry, timeoutMs }: { readonly retry: RetryPolicy; readonly timeoutMs: number | null },
  failingMs: number,
): TimeLimit | 'over' | null {
  const timeout: TimeLimit | null = timeoutMs === null ? null : { ms: timeoutMs, option: 'timeout' }
  if (retry.forMs === null) return timeout
  const leftMs = retry.forMs - failingMs
  if (leftMs <= 0) return 'over'
  return timeout !== null && timeout.ms <= leftMs ? timeout : { ms: leftMs, option: 'retry.for' }
}
