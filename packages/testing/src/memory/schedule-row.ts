import type { FiringRecord, ScheduleRecord } from '@belay/workflow/adapter'

/** A schedule with its firings. Replaced as a whole, never changed. */
export interface ScheduleRow {
  readonly schedule: ScheduleRecord
  /** By sequence, ascending. */
  readonly firings: readonly (FiringRecord & { readonly isOpen: boolean })[]
}
