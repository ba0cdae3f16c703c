import { type FirerParts, fireNext } from './schedules/firing.ts'
import { scheduleOfKey } from './schedules/prepare-runs.ts'
import type { EndFollower } from './worker/run-ends.ts'

/**
 * Starts the firing that waits for the end of a run. The end is kept until it has been followed, so a worker that dies meanwhile leaves it to another
 * one. Beside that, each schedule with firings that wait is looked at from time to time: for runs that do not report their ends, because the schedule
 * did not queue when they were started, and for a firing that was queued in the very moment of the end.
 */
export function queuedFirings(parts: FirerParts): EndFollower {
  return async (ends) => {
    const named = ends.flatMap((end) => {
      const name = end.parent === null && end.key !== null ? scheduleOfKey(end.key) : undefined
      return name === undefined ? [] : [{ name, end }]
    })
    if (named.length === 0) return []
    const undecided = await fireNext(parts, [...new Set(named.map(({ name }) => name))])
    return named.filter(({ name }) => undecided.has(name)).map(({ end }) => end)
  }
}
