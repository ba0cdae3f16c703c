import { realMs, realTime } from '../clock/turn.ts'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { Script } from './script.ts'

/** How long a handler may take in real time before virtual time moves on: its timeout shall not pass while it reads a file. */
const HANDLER_MS = 100

export interface MovingParts {
  readonly clock: VirtualClock
  readonly script: Script
  readonly isDone: () => boolean
  /** The last instant. */
  readonly until: number
  /** How long nothing must happen, in real milliseconds, before nothing will. */
  readonly graceMs: number
}

/** Moves time from timer to timer. `late`: the next one is due after `until`. `stuck`: no time would change anything. */
export async function moveTime(parts: MovingParts): Promise<'done' | 'late' | 'stuck'> {
  const { clock, script, isDone, until, graceMs } = parts
  await clock.advance(0)
  let stillSince = realMs()
  while (!isDone()) {
    const runningForMs = script.runningForMs
    const isWorking = runningForMs !== undefined && runningForMs < HANDLER_MS
    if (!isWorking && (await clock.step(until))) {
      stillSince = realMs()
      continue
    }
    if (!isWorking && clock.nextAt !== undefined) return 'late'
    if (runningForMs === undefined && realMs() - stillSince >= graceMs) return 'stuck'
    await realTime(1)
    await clock.advance(0)
    if (isWorking) stillSince = realMs()
  }
  return 'done'
}
