import type { RunStatus } from './lifecycle.ts'

/** Which runs are meant: those that fit every condition that is given. Instants are epoch milliseconds of the store's clock. */
export interface RunConditions {
  /** Of any of these workflows. */
  readonly workflow?: readonly string[] | undefined
  /** Shown with any of these statuses. */
  readonly status?: readonly RunStatus[] | undefined
  readonly key?: string | undefined
  /** With all of these tags; never empty. */
  readonly tags?: readonly string[] | undefined
  /** Created at this instant or later. */
  readonly createdAfter?: number | undefined
  /** Created earlier than this instant. */
  readonly createdBefore?: number | undefined
  /** Ended at this instant or later. */
  readonly finishedAfter?: number | undefined
  /** Ended earlier than this instant. */
  readonly finishedBefore?: number | undefined
}

export interface RunFilter extends RunConditions {
  /** Only runs older than this run id; for paging. */
  readonly before?: string | undefined
  readonly limit: number
}

export interface RunCountRequest extends RunConditions {
  /** Counts no further than this. */
  readonly max: number
  /** True counts each status apart. A run that is scheduled, running or waiting is counted only among the newest `max` of these together. */
  readonly byStatus: boolean
}

/** How many runs fit. */
export interface RunCount {
  /** Null when statuses are not counted apart. */
  readonly status: RunStatus | null
  /** At most the `max` that was asked for. */
  readonly count: number
  /** There are more than were counted, or may be. */
  readonly capped: boolean
}
