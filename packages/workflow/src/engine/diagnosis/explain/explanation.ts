import type {
  CollectedCalls,
  DefinitionShape,
  LimitCircle,
  LimitWait,
  RunRecord,
  RunStatus,
  StepRecord,
  StepStatus,
  ValueRecord,
  WorkerRecord,
} from '../../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../../cause.ts'
import type { OfferedAction } from '../offered-action.ts'
import type { Quote } from '../quote.ts'

/** The input of an explanation. */
export interface RunToExplain {
  readonly run: RunRecord
  /** Every step, ascending by number, but for the items that are left out. */
  readonly steps: readonly StepRecord[]
  /** The items that were not read. */
  readonly leftOut?: readonly LeftOut[] | undefined
  readonly shape: DefinitionShape
  /** The runs that its steps started, newest first. */
  readonly children?: readonly RunRecord[] | undefined
  /** Its steps that wait for slots. */
  readonly limitWaits?: readonly LimitWait[] | undefined
  /** Those of them for whose slots runs above this one wait too. */
  readonly limitCircles?: readonly LimitCircle[] | undefined
  /** What its steps told. */
  readonly values?: readonly ValueRecord[] | undefined
  /** Of its follow-up, in which its end steps run. Undefined if it has none, or if that was not started yet. */
  readonly followUp?: Explanation | undefined
  /** The calls that it carries, if its workflow collects them. */
  readonly collected?: CollectedCalls | null | undefined
  /** If it has ended: what sends it forward again, perhaps from a run above it. */
  readonly retries?: readonly OfferedAction[] | undefined
  readonly workers: readonly WorkerRecord[]
  /** How sentences tell errors and notes. */
  readonly quote: Quote
  /** Epoch milliseconds, store clock. */
  readonly now: number
}

/** Items of one map, or rounds of one loop, in one status. */
export interface LeftOut {
  /** The number or place of the step that decided them. */
  readonly opener: number
  readonly map: string
  readonly status: StepStatus
  readonly items: number
  /** Whether the run goes on past the failure of one of them. */
  readonly continues: boolean
}

/**
 * What an open step waits for. `dependency`: its dependencies, or in an undo its dependents. `retry`, `timer`, `start`: an instant. `signal`: a
 * signal or decision. `child`: the end of the run that it started, or of that run's undo. `due`: only the next look of a worker with a free slot. `slot`: all workers that could run it are busy. `limit`: a slot of a limit. `worker`: no worker
 * can run it, or the worker that held it is gone. `paused`, `operator`: an operator's action. `running`: its handler.
 */
export type StepReason =
  | 'running'
  | 'dependency'
  | 'retry'
  | 'timer'
  | 'start'
  | 'signal'
  | 'child'
  | 'due'
  | 'slot'
  | 'limit'
  | 'worker'
  | 'paused'
  | 'operator'

/** What a step that has not ended waits for. */
export interface StepExplanation {
  readonly step: string
  /** Of an item of a map, or a round of a loop. */
  readonly itemKey?: string
  readonly reason: StepReason
  readonly sentence: string
  /** The instant at which the wait ends by itself, if there is one. */
  readonly until?: Date
  /** What its last attempt failed with, if it failed and waits for its retry or an operator; with the upper frames of its stack, if they are stored. */
  readonly error?: SerialisedError
  /** For `child`: the run whose end, or whose undo, the step waits for. Absent if it has ended, or was not started yet. */
  readonly childRunId?: string
  /** For `limit`: what it waits for. */
  readonly limit?: AwaitedLimit
  /** What an operator may do now about exactly this sentence, the gentlest first. Empty if it needs nobody, or if nothing fits. */
  readonly actions: readonly OfferedAction[]
}

/** The slot, or the turn, that a step waits for. */
export interface AwaitedLimit {
  readonly name: string
  /** Empty for a limit without keys. */
  readonly key: string
  /** Its place in the line of this key, from 1. Absent once a rate has given it the instant `until`, at which it begins. */
  readonly place?: number
}

/** A step's explanation before it is known what may be done. */
export type StepReasoning = Omit<StepExplanation, 'actions' | 'itemKey'>

/** What a run and each of its open steps wait for. */
export interface Explanation {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly status: RunStatus
  readonly sentence: string
  /** What stopped the run, if it was stopped; a step's error with the upper frames of its stack, if they are stored. */
  readonly cause?: RunCause
  /** Once the run has ended: what sends it forward again, of it or of a run above it. What may be done about open steps stands with them. */
  readonly actions: readonly OfferedAction[]
  /** One for each step that has not ended, in the order of the definition; of each map and status, at most `itemsMax` items. Empty if the run has ended. */
  readonly steps: readonly StepExplanation[]
  /** The other items about which `steps`, `skipped` or `continued` would have had a sentence, counted by map and status. Empty for most runs. */
  readonly more: readonly ItemsLeftOut[]
  /** One for each step that was skipped, in the order of the definition, also once the run has ended. */
  readonly skipped: readonly SkipExplanation[]
  /** One for each step that failed and past whose failure the run continued, in the order of the definition. */
  readonly continued: readonly SkipExplanation[]
  /** Once the run has ended: what the end steps of this end wait for. Absent if there are none, or if their run was not started yet. */
  readonly followUp?: Explanation
}

/** Items of a map, or rounds of a loop, of which an explanation tells only how many they are. */
export interface ItemsLeftOut {
  /** The name of the map or loop. */
  readonly map: string
  readonly status: StepStatus
  readonly items: number
  readonly sentence: string
}

/** Which items an explanation names, and how it tells what may hold payloads. */
export interface ExplainOptions {
  /** How many items of each map and status have a sentence of their own. 1 to 10,000; default 100. */
  readonly itemsMax?: number | undefined
  /**
   * How sentences tell errors of handlers and notes of their progress. Default: in full. `quoteWithoutPayloads` is for readers who may not see payloads;
   * the fields `error` and `cause` hold the errors in any case.
   */
  readonly quote?: Quote | undefined
}

/** Why a step was skipped, or how it failed. */
export interface SkipExplanation {
  readonly step: string
  readonly sentence: string
}
