import { Cron } from 'croner'
import { instantOf, wallAt } from './wall-clock.ts'

/** The most patterns that are kept compiled: an application may have a schedule for each of its users, but few different ones. */
const PATTERNS_MAX = 1_000

/** A compiled pattern. */
export interface CronPattern {
  /** Hours are any: then the schedule follows elapsed time, also when clocks change. */
  readonly isHourly: boolean
  readonly matches: Cron
}

const patterns = new Map<string, CronPattern>()

/**
 * Compiles a pattern of five fields, or of six with seconds first. Throws what is wrong with it.
 *
 * Croner finds the times that match as clocks show them. When clocks change, the rules are ours (`nextMatch`): its own rules would drop a pattern with
 * several times within a skipped hour, and fire one with several times twice within a repeated hour.
 */
export function cronPattern(text: string): CronPattern {
  const known = patterns.get(text)
  if (known !== undefined) return known
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6)
    throw new Error(`it has ${fields.length} fields instead of 5, or 6 with seconds`)
  const isHourly = /^\*(\/1)?$/.test(fields.at(-4)!)
  const made = { isHourly, matches: new Cron(text, { timezone: 'UTC' }) }
  if (patterns.size >= PATTERNS_MAX) patterns.clear()
  patterns.set(text, made)
  return made
}

/**
 * The first match after an instant; null if there is none. A time that clocks skip counts as the moment after the gap; several such times count once. A
 * time that comes twice counts the first time only. But a pattern for any hour follows elapsed time: it has no match within the gap, and all of them
 * within both of the repeated hours.
 */
export function nextMatch(text: string, timeZone: string, after: number): number | null {
  const { isHourly, matches } = cronPattern(text)
  return isHourly ? nextElapsed(matches, timeZone, after) : nextShown(matches, timeZone, after)
}

function nextShown(matches: Cron, timeZone: string, after: number): number | null {
  let wall = wallAt(after, timeZone)
  for (;;) {
    const next = matches.nextRun(new Date(wall))
    if (next === null) return null
    const instant = instantOf(next.getTime(), timeZone)
    if (instant > after) return instant
    // This time was shown before, in the first of two hours.
    wall = next.getTime()
  }
}

/** Looks for the next match on the clock as it goes on from here; when the clocks change first, on from the change. */
function nextElapsed(matches: Cron, timeZone: string, after: number): number | null {
  const wall = wallAt(after, timeZone)
  const next = matches.nextRun(new Date(wall))
  if (next === null) return null
  const instant = after + (next.getTime() - wall)
  if (wallAt(instant, timeZone) === next.getTime()) {
    return instant
  }
  return nextPastChange(matches, timeZone, { after, instant, wall: next.getTime() })
}

/** The clocks change between `after` and `instant`, where the match would have been without the change. */
function nextPastChange(
  matches: Cron,
  timeZone: string,
  { after, instant, wall }: { readonly after: number; readonly instant: number; readonly wall: number },
): number | null {
  const shift = wallAt(instant, timeZone) - wall
  // Clocks went forward: what they skipped is no match. Clocks went back: some times come again.
  const change = lastBefore(timeZone, after, instant)
  const from = wallAt(change, timeZone) - 1
  const next = matches.nextRun(new Date(from))
  if (next === null) return null
  const found = change + (next.getTime() - from - 1)
  if (wallAt(found, timeZone) === next.getTime() || shift === 0) return found
  return nextElapsed(matches, timeZone, change)
}

/** The instant between these at which the zone's clocks change. */
function lastBefore(timeZone: string, from: number, to: number): number {
  const offset = wallAt(from, timeZone) - from
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (wallAt(middle, timeZone) - middle === offset) low = middle
    else high = middle
  }
  return high
}
