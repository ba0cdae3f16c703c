/** A pending timer. */
export interface Timer {
  cancel(): void
}

/** The source of the engine's timers. Stored instants come from the store's clock instead. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  now(): number
  /**
   * Calls `fire` once, at least `delayMs` milliseconds from now. With `recurrence`, the timer belongs to a loop: a clock whose time is virtual may
   * leave out the firings that would find nothing. Other clocks ignore it.
   */
  after(delayMs: number, fire: () => void, recurrence?: Recurrence): Timer
  /**
   * Only of a clock whose time is virtual, for somebody who waits: calls `fire` whenever its time has stood still for a while, with nobody who moves
   * it, and with no handler that runs.
   */
  onStandstill?(fire: () => void): Timer
}

/** How a loop's timer comes again. */
export interface Recurrence {
  /** From one firing to the next, in milliseconds. */
  readonly everyMs: number
  /** The first instant of this clock at which a firing may find something. Asked again whenever time is about to move. */
  readonly idleUntil: () => number
  /**
   * Firings were left out: once time has moved past one of them, the timer fires before every other timer. So a worker has renewed its lease before
   * anybody looks at it.
   */
  readonly catchesUp?: boolean
  /** Whether handlers of this process run: they may wait for something real, which takes real time. */
  readonly isBusy?: () => boolean
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
