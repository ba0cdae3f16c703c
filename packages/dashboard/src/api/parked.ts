import type { Capped, HistoryEntry, ListedStep, OfferedHere, RunLink } from '../api.ts'

/**
 * `GET parked`: {@link ParkedPage}. Undos that failed for good and wait for a person, of the newest 1,000 runs that are parked, by what failed. What stands
 * in a run is dear to read: an answer may come before all of them are read, and the next one has read more.
 */
export interface ParkedPage {
  readonly readAt: number
  readonly runs: Capped
  /** Of these runs so many have been read. */
  readonly read: number
  /** The first 100, those with the most runs first. */
  readonly groups: readonly ParkedGroup[]
  readonly more: boolean
  /** What may be done about each of them: the verbs without a step. */
  readonly actions: readonly OfferedHere[]
  /** If there are none: the newest that was settled, where this process has seen it. */
  readonly settled?: (HistoryEntry & { readonly run: RunLink }) | undefined
}

/** One cause: the same workflow and version, the same step and the same error. */
export interface ParkedGroup {
  readonly workflow: string
  readonly version: number
  /** The step, or the map of the items. */
  readonly step: string
  /** What a repair of all its runs takes as the step. Undefined if they are different items: those are repaired one at a time. */
  readonly repairs?: string | undefined
  /** As far as this viewer may see it. */
  readonly error: string
  /** The ids of its runs, the newest first. */
  readonly runs: readonly string[]
  /** More than there are runs if several items of a run failed. */
  readonly undos: number
  /** When the first and the last of them were parked. */
  readonly since: number
  readonly last: number
  /** How many were parked when: between `since` and the reading in equal parts. */
  readonly times: readonly number[]
  /** How often the compensation was called: least and most. */
  readonly attempts: readonly [number, number]
  /** Effects in all its runs that are not undone. */
  readonly remain: number
  /** The newest 5. */
  readonly examples: readonly ParkedExample[]
}

export interface ParkedExample {
  readonly id: string
  readonly key?: string | undefined
  /** As the verbs name it. */
  readonly step: string
  readonly since: number
  readonly remain: number
  /** For the strip. */
  readonly steps: readonly ListedStep[]
}
