/** A pending timer. */
export interface Timer {
  cancel(): void
}

/** The source of the engine's timers. Stored instants come from the store's clock instead. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  now(): number
  /** Calls `fire` once, at least `delayMs` milliseconds from now. */
  after(delayMs: number, fire: () => void): Timer
}

// Timers longer than this overflow and fire at once in every JavaScript runtime.
const TIMER_MAX_MS = 2_147_483_647

/** The process's monotonic clock. Its timers keep the process alive, because an idle worker must keep running. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, fire) {
    const handle: unknown = setTimeout(fire, Math.min(delayMs, TIMER_MAX_MS))
    return { cancel: () => clearTimeout(handle as number) }
  },
}
