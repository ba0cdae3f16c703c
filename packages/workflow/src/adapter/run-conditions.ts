import type { RunStatus } from './lifecycle.ts'

/** Selects runs that fit every given condition. Instants are epoch milliseconds, store clock. */
export interface RunConditions {
  /** Any of these workflows. */
  readonly workflow?: readonly string[] | undefined
  /** This version of their workflow. */
  readonly version?: number | undefined
  /** The first hex digits of their ids: lower case, without dashes, 1 to 32. */
  readonly idPrefix?: string | undefined
  /** Any of these statuses, as people see them. */
  readonly status?: readonly RunStatus[] | undefined
  readonly key?: string | undefined
  /** How their keys begin; never empty. */
  readonly keyPrefix?: string | undefined
  /** All of these tags; never empty. */
  readonly tags?: readonly string[] | undefined
  /** Created at this instant or later. */
  readonly createdAfter?: number | undefined
  /** Created before this instant. */
  readonly createdBefore?: number | undefined
  /** Ended at this instant or later. */
  readonly finishedAfter?: number | undefined
  /** Ended before this instant. */
  readonly finishedBefore?: number | undefined
  /** Started for this run: its children and follow-ups. */
  readonly parentId?: string | undefined
  /** A step of theirs waits for a slot of this limit, or for its instant under this rate; with this key, or with any. */
  readonly waitingFor?: { readonly limit: string; readonly key?: string | undefined } | undefined
}

export interface RunFilter extends RunConditions {
  /** Only runs older than this run id, for paging. */
  readonly before?: string | undefined
  /** Only runs newer than this run id: of these the oldest. Never with `before`. */
  readonly after?: string | undefined
  readonly limit: number
  /** Read the states of their steps too. */
  readonly steps?: boolean | undefined
}

export interface RunCountRequest extends RunConditions {
  /** The count stops here. */
  readonly max: number
  /** True counts each status separately. Runs that are scheduled, running or waiting are counted only among the newest `max` of these together. */
  readonly byStatus: boolean
}

/** How many runs match. */
export interface RunCount {
  /** Null if statuses are not counted separately. */
  readonly status: RunStatus | null
  /** At most the requested `max`. */
  readonly count: number
  /** There are, or may be, more runs than were counted. */
  readonly capped: boolean
}
