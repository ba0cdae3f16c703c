import { ENDS, FORWARD_STATUSES, LIVE_STATUSES } from '@belay/workflow/adapter'

// Part of the statements' text, not parameters: the planner uses a partial index only if the text implies the index's predicate.

/** For `in (…)` and `array[…]`: runs that go forward unless they were stopped. For a paused run, `stop` tells. */
export const forwardStatuses = listOf(FORWARD_STATUSES)

/** Runs that have not ended: the predicate of the index of live runs. */
export const liveStatuses = listOf(LIVE_STATUSES)

/** Runs that have ended. */
export const ends = listOf(ENDS)

/**
 * Whether a run that is looked up by its id has one of these statuses. As a case: else the planner may read the index of live runs instead, which seems
 * small beside a held snapshot and is full of dead entries.
 */
export function runIs(row: string, statuses: string): string {
  return `case when ${row}.id is not null then ${row}.status in (${statuses}) end`
}

/** Whether a run that is looked up by its id goes forward. */
export function goesForward(row: string): string {
  return `case when ${row}.id is not null then ${row}.stop is null and ${row}.status in (${forwardStatuses}) end`
}

function listOf(statuses: readonly string[]): string {
  return statuses.map((status) => `'${status}'`).join(', ')
}
