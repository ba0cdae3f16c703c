import { v7 } from 'uuid'
import { type Clock, systemClock } from '../clock.ts'

/** Everything the engine takes from outside its own logic, so that a simulation can own it. */
export interface Runtime {
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  /** A new time-ordered uuid. */
  readonly newId: () => string
}

export const systemRuntime: Runtime = { clock: systemClock, random: Math.random, newId: () => v7() }

/** Waits for a promise, but no longer than `limitMs` milliseconds of this clock. */
export async function within(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = clock.after(limitMs, resolve)
    promise.then(() => resolve(), reject).finally(() => timer.cancel())
  })
}

/** Resolves after `delayMs` milliseconds of this clock. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve))
}
