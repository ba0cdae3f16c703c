import type { Clock, Timer } from '../../clock.ts'
import type { BelayError } from '../../errors.ts'
import type { TimeLimit } from '../base/time-limit.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

export interface AwaitedHandler {
  readonly clock: Clock
  readonly limit: TimeLimit | null
  /** How long a handler that has timed out may take to heed its signal; the limit itself, if that is shorter. */
  readonly graceMs: number
  /** The time is over: fires the handler's signal, and says so. */
  readonly onTimeout: (limit: TimeLimit) => BelayError
  /** The handler ended after nobody waited for it any more. */
  readonly onLateResult: () => void
  readonly returned: (value: unknown) => AttemptEnd
  readonly threw: (error: unknown) => AttemptEnd
}

/**
 * Waits for a handler's promise: until its timeout, then its signal fires, and for a grace after that. A handler that ends in the grace has
 * ended: nothing of it goes on beside the next attempt or the undo, and a result that it has is kept. Of one that does not, nobody knows what
 * it did. What is rolled back with its transaction needs no grace.
 */
export function awaitHandler(promise: PromiseLike<unknown>, parts: AwaitedHandler): Promise<AttemptEnd> {
  const { clock, limit, graceMs, onTimeout, onLateResult, returned, threw } = parts
  return new Promise((resolve) => {
    let timeout: BelayError | undefined
    let isOver = false
    let timer: Timer | undefined
    const giveUp = () => {
      isOver = true
      resolve({ type: 'threw', error: timeout })
    }
    const timeOut = (over: TimeLimit) => {
      timeout = onTimeout(over)
      const leftMs = Math.min(graceMs, over.ms)
      if (leftMs === 0) giveUp()
      else timer = clock.after(leftMs, giveUp)
    }
    if (limit !== null) timer = clock.after(limit.ms, () => timeOut(limit))
    const end = (ended: AttemptEnd) => {
      timer?.cancel()
      if (isOver) return onLateResult()
      // It threw because it was told to stop, whatever it says.
      const isTimedOut = timeout !== undefined && ended.type === 'threw'
      resolve(isTimedOut ? { type: 'threw', error: timeout } : ended)
    }
    const fail = (error: unknown) => end(threw(error))
    try {
      // Not the promise's own `then`: it may be anybody's.
      Promise.resolve(promise).then((value) => end(returned(value)), fail)
    } catch (error) {
      // A promise of the user's own making may throw when it is asked what it is.
      fail(error)
    }
  })
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}
