import type { Clock } from '@belay/workflow'

// Longer timers overflow and fire at once in every JavaScript runtime.
const TIMER_MAX_MS = 2_147_483_647

/** Real time as a store's clock: epoch milliseconds that never go back. */
export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(delayMs, fire) {
    const handle = setTimeout(fire, Math.min(delayMs, TIMER_MAX_MS))
    return { cancel: () => clearTimeout(handle) }
  },
}
