import type { ViewRun } from '../model.ts'
import type { StepState } from '../state.ts'

/** What every node and edge is drawn from. */
export interface Scene {
  readonly run: ViewRun
  readonly at: number
  readonly round: number
  readonly stopped: boolean
  readonly vertical: boolean
  readonly states: ReadonlyMap<string, StepState>
  /** Empty, unless the order is shown and the run has stopped. */
  readonly order: ReadonlyMap<string, number>
}
