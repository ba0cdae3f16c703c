import { v7 } from 'uuid'
import { type Clock, systemClock } from '../../clock.ts'

/** Everything the engine takes from outside its own logic, so that a simulation can own it. */
export interface Runtime {
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  /** A new time-ordered uuid. */
  readonly newId: () => string
}

export const systemRuntime: Runtime = { clock: systemClock, random: Math.random, newId }

let pool = new Uint8Array(0)
let taken = 0
let lastMs = 0
let sequence = 0

/**
 * A uuid v7 that is greater than all this process made before. Random bytes come from a pool: asking the system for 16 at a time costs
 * more than all the rest of an id.
 */
function newId(): string {
  if (taken === pool.length) {
    pool = globalThis.crypto.getRandomValues(new Uint8Array(4_096))
    taken = 0
  }
  const random = pool.subarray(taken, taken + 16)
  taken += 16
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    // Room for a billion more within this millisecond.
    sequence = (random[0]! << 22) | (random[1]! << 14)
  } else {
    sequence += 1
  }
  return v7({ random, msecs: lastMs, seq: sequence })
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
