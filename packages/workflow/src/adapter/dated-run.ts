import type { ItemCount } from './items-to-read.ts'
import type { StepStatus } from './lifecycle.ts'
import type { RunRecord } from './records.ts'

/** A run, and when it was read. */
export interface DatedRun extends RunRecord {
  /** Epoch milliseconds, store clock. */
  readonly readAt: number
  /** Only if a list was to read them. */
  readonly states?: StatesOfSteps | undefined
}

/** The states of a run's steps, from one snapshot. */
export interface StatesOfSteps {
  /** In order, without items. */
  readonly steps: readonly { readonly step: number; readonly status: StepStatus }[]
  readonly itemCounts: readonly ItemCount[]
}
