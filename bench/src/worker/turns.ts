import { setTimeout as delay } from 'node:timers/promises'
import { define } from '@belay/workflow'
import { sharedNow } from './shared-clock.ts'

/** One call of the handler, on a clock that all processes of this machine share. */
export interface Turn {
  readonly beganAtMs: number
  readonly endedAtMs: number
}

const WORK_MS = 3

/** The turns of this process. */
export const turns: Turn[] = []

/** Runs that take turns: one at a time, in all processes. */
export const taker = define('turns', { version: 1 }).step('turn', {
  concurrency: { limit: 1 },
  run: async () => {
    const beganAtMs = sharedNow()
    await delay(WORK_MS)
    turns.push({ beganAtMs, endedAtMs: sharedNow() })
  },
})

/** One run holds the only slot for as long as its worker lives; all others wait in line. */
export const liner = define('line', { version: 1 }).step('hold', {
  concurrency: { limit: 1 },
  run: ({ signal }) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve())
    }),
})

/** For each turn but the first, how long the slot was free before it, in milliseconds. */
export function gapsOf(all: readonly Turn[]): readonly number[] {
  const sorted = [...all].sort((a, b) => a.beganAtMs - b.beganAtMs)
  return sorted.slice(1).map(({ beganAtMs }, index) => Math.max(0, beganAtMs - sorted[index]!.endedAtMs))
}
