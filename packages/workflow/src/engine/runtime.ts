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

/** Resolves after `delayMs` milliseconds of this clock. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve))
}
