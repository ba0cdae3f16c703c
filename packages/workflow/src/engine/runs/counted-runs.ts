import type { RunCount, RunStatus } from '../../adapter/index.ts'

/** A count of matching runs. */
export interface CountedRuns {
  /** At most the given `max`. */
  readonly count: number
  /** True when there are more. */
  readonly capped: boolean
}

/** Counts of matching runs by status. Statuses without runs are left out. */
export type CountedByStatus = { readonly [Status in RunStatus]?: CountedRuns }

export function countedByStatus(counts: readonly RunCount[]): CountedByStatus {
  return Object.fromEntries(counts.map(({ status, count, capped }) => [status, { count, capped }]))
}
