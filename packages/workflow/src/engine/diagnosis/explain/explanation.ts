import type {
  DefinitionShape,
  RunRecord,
  RunStatus,
  StepRecord,
  WorkerRecord,
} from '../../../adapter/index.ts'

/** All that an explanation looks at. */
export interface RunToExplain {
  readonly run: RunRecord
  /** Every step, ascending by number. */
  readonly steps: readonly StepRecord[]
  readonly shape: DefinitionShape
  readonly workers: readonly WorkerRecord[]
  /** Epoch milliseconds, store clock. */
  readonly now: number
}

/**
 * What an open step waits for. `dependency`: steps before it, or in an undo those after it. `retry`, `timer`, `start`: an instant. `signal`: somebody
 * else. `due`: nothing but the next look of a worker with a free slot; `slot`: all workers that could run it are busy; `worker`: there is
 * none, or the one that had it is gone. `paused`, `operator`: somebody who acts. `running`: its handler.
 */
export type StepReason =
  | 'running'
  | 'dependency'
  | 'retry'
  | 'timer'
  | 'start'
  | 'signal'
  | 'due'
  | 'slot'
  | 'worker'
  | 'paused'
  | 'operator'

/** Why a step that has not ended is where it is. */
export interface StepExplanation {
  readonly step: string
  readonly reason: StepReason
  readonly sentence: string
  /** When what it waits for comes by itself. */
  readonly until?: Date
}

/** Why a run is where it is, and each of its open steps. */
export interface Explanation {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly status: RunStatus
  readonly sentence: string
  /** One for each step that has not ended, in the order of the definition. Empty when the run is over. */
  readonly steps: readonly StepExplanation[]
}
