import type { Clock, Timer } from '../../clock.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { BelayError } from '../../errors.ts'
import type { TimeLimit } from '../base/time-limit.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import { type HeartbeatLimit, watchHeartbeats } from './heartbeat.ts'

export interface AwaitedHandler {
  readonly clock: Clock
  readonly limit: TimeLimit | null
  readonly heartbeats: HeartbeatLimit | null
  /** How long a timed-out handler may take to react to its signal, in milliseconds; at most the limit itself. */
  readonly graceMs: number
  /** Called at the timeout: fires the handler's signal and returns the error. */
  readonly onTimeout: (limit: TimeLimit) => BelayError
  /** Called with that error when the grace period ends before the handler. */
  readonly onGiveUp: ((error: unknown) => void) | undefined
  /** Called when the handler ends after the grace period. */
  readonly onLateResult: () => void
  readonly returned: (value: unknown) => AttemptEnd
  readonly threw: (error: unknown) => AttemptEnd
}

/** How long a timed-out handler may take to react to its signal before its worker stops waiting for it. At most the timeout itself. */
export const TIMEOUT_GRACE_MS = 5_000

/**
 * Waits for a handler's promise until its timeout, or until its heartbeats stop. Then its signal fires, and a grace period begins. If the handler ends within it, a result still
 * counts, and the handler cannot overlap the next attempt or the undo. If it does not, its effect is unknown. A transactional handler gets no
 * grace: its effect is rolled back.
 */
export function awaitHandler(promise: PromiseLike<unknown>, parts: AwaitedHandler): Promise<AttemptEnd> {
  const { clock, limit, heartbeats, graceMs, onTimeout, onGiveUp, onLateResult, returned, threw } = parts
  return new Promise((resolve) => {
    let timeout: BelayError | undefined
    let isOver = false
    let timer: Timer | undefined
    let beats: Pick<Timer, 'cancel'> | undefined
    const giveUp = () => {
      isOver = true
      onGiveUp?.(timeout)
      resolve({ type: 'threw', error: timeout })
    }
    const timeOut = (over: TimeLimit) => {
      timer?.cancel()
      beats?.cancel()
      timeout = onTimeout(over)
      const leftMs = Math.min(graceMs, over.ms)
      if (leftMs === 0) giveUp()
      else timer = clock.after(leftMs, giveUp)
    }
    if (limit !== null) timer = clock.after(limit.ms, () => timeOut(limit))
    if (heartbeats !== null) beats = watchHeartbeats(clock, heartbeats, timeOut)
    const end = (ended: AttemptEnd) => {
      timer?.cancel()
      beats?.cancel()
      if (isOver) return onLateResult()
      // After the timeout, any error counts as the timeout: the handler was told to stop.
      const isTimedOut = timeout !== undefined && ended.type === 'threw'
      resolve(isTimedOut ? { type: 'threw', error: timeout } : ended)
    }
    const fail = (error: unknown) => end(threw(error))
    try {
      // Not the promise's own `then`, which may be user code.
      Promise.resolve(promise).then((value) => end(returned(value)), fail)
    } catch (error) {
      // A custom thenable may throw when its `then` is read.
      fail(error)
    }
  })
}

/** Calls a handler. Its name marks in a stack where the handler's frames end: in sources and bundles, and in every engine of JavaScript. */
export function belayCallsHandler(
  handler: ((context: StepContext) => unknown) | null,
  context: StepContext,
): unknown {
  return handler?.(context)
}
