import { v7 } from 'uuid'
import type { Adapter, Stillness } from '../../adapter/index.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { Context } from './context.ts'

/** The engine's sources of time and randomness, so that a simulation can control them. */
export interface Runtime {
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  /** A new time-ordered UUID. */
  readonly newId: () => string
  /** In which what the engine does on its own is called. */
  readonly context: Context
}

export const systemRuntime: Omit<Runtime, 'context'> = { clock: systemClock, random: Math.random, newId }

let pool = new Uint8Array(0)
let taken = 0
let lastMs = 0
let sequence = 0

/**
 * A UUID v7 that is greater than every earlier one of this process. Random bytes come from a pool: asking the system for 16 bytes at a time would
 * cost more than everything else.
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
    // Leaves room for a billion more ids within this millisecond.
    sequence = (random[0]! << 22) | (random[1]! << 14)
  } else {
    sequence += 1
  }
  return v7({ random, msecs: lastMs, seq: sequence })
}

/** What the store knows of its own future, if its time is also the engine's, and if nothing stands between the engine and the store. */
export function stillnessOf(adapter: Adapter, { clock }: Runtime): Stillness | undefined {
  const { stillness } = adapter
  return stillness?.of === adapter && adapter.clock === clock ? stillness : undefined
}

/** Waits for a promise, at most `limitMs` milliseconds by this clock. */
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
