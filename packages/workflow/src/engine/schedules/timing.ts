import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { ScheduleRecord, Timing } from '../../adapter/index.ts'
import { shown } from '../../shown.ts'
import { nextMatch } from './cron.ts'

/** The first time of a timing after an instant; null if there is none, or only after `until`. */
export function nextTime(timing: Timing, after: number, until: number | null = null): number | null {
  const next = 'cron' in timing ? nextMatch(timing.cron, timing.timeZone, after) : nextDistance(timing, after)
  return next === null || (until !== null && next > until) ? null : next
}

function nextDistance(
  { everyMs, anchorAt }: Extract<Timing, { readonly everyMs: number }>,
  after: number,
): number {
  if (!(everyMs > 0)) throw new Error(`it is to fire every ${shown(everyMs)} milliseconds`)
  return anchorAt + Math.max(1, Math.floor((after - anchorAt) / everyMs) + 1) * everyMs
}

/** The first `max` times from one instant to another, both included. */
export function timesFrom(
  timing: Timing,
  { from, to, max }: { readonly from: number; readonly to: number; readonly max: number },
): readonly number[] {
  const times: number[] = []
  for (let at = nextTime(timing, from - 1, to); at !== null && times.length < max; )
    at = nextTime(timing, times[times.push(at) - 1]!, to)
  return times
}

/** The last `max` times from one instant to another, both included, ascending. Its cost does not depend on how many lie between. */
export function lastTimes(
  timing: Timing,
  { from, to, max }: { readonly from: number; readonly to: number; readonly max: number },
): readonly number[] {
  for (let spanMs = max * 1_000; ; spanMs *= 4) {
    const start = Math.max(from, to - spanMs)
    // Dense at the end and sparse before, a pattern may have many more in the wider span.
    const times = timesFrom(timing, { from: start, to, max: Number.POSITIVE_INFINITY })
    if (times.length >= max || start === from) return times.slice(-max)
  }
}

/** When a time fires: later by the schedule's jitter, which is the same whoever computes it. */
export function fireAt({ name, spec }: Pick<ScheduleRecord, 'name' | 'spec'>, time: number): number {
  if (spec.jitterMs === 0) return time
  const [first, second, third, fourth] = sha256(utf8ToBytes(`${name}\n${time}`))
  const share = (((first! * 256 + second!) * 256 + third!) * 256 + fourth!) / 2 ** 32
  return time + Math.floor(share * spec.jitterMs)
}
