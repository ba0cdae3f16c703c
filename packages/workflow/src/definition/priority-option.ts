import { PRIORITY_MAX } from '../adapter/queue-place.ts'
import type { Place } from '../graph/place.ts'
import { wholeNumber } from './option-check.ts'

/** What a step may be given to be claimed earlier. */
export interface PriorityOption {
  /**
   * Added to the priority of its run: whole number from 0 to 1,000, default 0. For each level, the step overtakes whatever became ready up to a
   * minute before it.
   */
  readonly priority?: number | undefined
}

export const PRIORITY_OPTION_NAMES = ['priority'] as const

/** Checks a workflow's or a step's priority. */
export function priorityOf(place: Place, given: unknown): number {
  return given === undefined ? 0 : wholeNumber(place, 'priority', given, { min: 0, max: PRIORITY_MAX })
}
