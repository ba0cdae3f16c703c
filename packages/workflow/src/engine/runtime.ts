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

export const systemRuntime: Runtime = {
  clock: systemClock,
  random: Math.random,
  newId: () => v7({ rng: randomBytes16 }),
}

const pool = new Uint8Array(4096)
let taken = pool.length

/** Random bytes from a pool: asking the system for 16 at a time costs more than all the rest of an id. */
function randomBytes16(): Uint8Array {
  if (taken === pool.length) {
    globalThis.crypto.getRandomValues(pool)
    taken = 0
  }
  taken += 16
  return pool.subarray(taken - 16, taken)
}

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
