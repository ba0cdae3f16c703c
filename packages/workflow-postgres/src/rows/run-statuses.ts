import { ENDS, FORWARD_STATUSES, LIVE_STATUSES } from '@belay/workflow/adapter'

// Part of the statements' text, not parameters: the planner uses a partial index only if the text implies the index's predicate.

/** For `in (…)` and `array[…]`: runs that go forward unless they were stopped. For a paused run, `stop` tells. */
export const forwardStatuses = listOf(FORWARD_STATUSES)

/** Runs that have not ended: the predicate of the index of live runs. */
export const liveStatuses = listOf(LIVE_STATUSES)

/** Runs that have ended. */
export const ends = listOf(ENDS)

function listOf(statuses: readonly string[]): string {
  return statuses.map((status) => `'${status}'`).join(', ')
}
