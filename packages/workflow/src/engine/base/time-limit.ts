import type { RetryPolicy } from '../../definition/step.ts'

/** How long an attempt may take, or may go without a heartbeat (milliseconds, at least 1), and which option sets that. */
export interface TimeLimit {
  readonly ms: number
  readonly option: 'timeout' | 'retry.for' | 'heartbeatTimeout'
}

/**
 * The attempt's timeout or the rest of its `retry.for`, whichever ends first; null if neither is set. `over`: `retry.for` has passed, so the
 * attempt must not begin. `failingMs` is the time since the first attempt of this series of failures began.
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
