/** A pending timer. */
export interface Timer {
  cancel(): void
}

/** Where the engine takes its timers from. Instants that are stored come from the store's clock instead. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  now(): number
  /** Calls `fire` once, at least `delayMs` milliseconds from now. */
  after(delayMs: number, fire: () => void): Timer
}

// Timers longer than this overflow and fire at once in every JavaScript runtime.
const TIMER_MAX_MS = 2_147_483_647

/** The clock of the process: monotonic. Its timers keep the process alive: a worker that waits is at work. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, fire) {
    const handle: unknown = setTimeout(fire, Math.min(delayMs, TIMER_MAX_MS))
    return { cancel: () => clearTimeout(handle as number) }
  },
}
