import type { RetryPolicy } from '../../definition/step.ts'
import { ANSWER_MS } from './user-code.ts'

/** How long an attempt may take, or may go without a heartbeat (milliseconds, at least 1), and which option sets that. */
export interface TimeLimit {
  readonly ms: number
  /** `none`: a function that is no handler, like `when`, has a limit also if no option sets one. */
  readonly option: 'timeout' | 'retry.for' | 'heartbeatTimeout' | 'none'
  /** With `none`, the function's name. */
  readonly asks?: string
}

/**
 * The attempt's timeout or the rest of its `retry.for`, whichever ends first; null if neither is set. `over`: `retry.for` has passed, so the
 * attempt must not begin. `failingMs` is the time since the first attempt of this series of failures began.
 * `asks`: the option that gave the function, if that is no handler. It has a limit even if the step has no timeout.
 */
export function timeLimit(
  { retry, timeoutMs }: { readonly retry: RetryPolicy; readonly timeoutMs: number | null },
  failingMs: number,
  asks?: string,
): TimeLimit | 'over' | null {
  const own = ownLimit({ retry, timeoutMs }, failingMs)
  const isBounded =
    asks === undefined || own === 'over' || (own !== null && (timeoutMs !== null || own.ms <= ANSWER_MS))
  return isBounded ? own : { ms: ANSWER_MS, option: 'none', asks }
}

function ownLimit(
  { retry, timeoutMs }: Parameters<typeof timeLimit>[0],
  failingMs: number,
): TimeLimit | 'over' | null {
  const timeout: TimeLimit | null = timeoutMs === null ? null : { ms: timeoutMs, option: 'timeout' }
  if (retry.forMs === null) return timeout
  const leftMs = retry.forMs - failingMs
  if (leftMs <= 0) return 'over'
  return timeout !== null && timeout.ms <= leftMs ? timeout : { ms: leftMs, option: 'retry.for' }
}
