import type { Isolation } from '../adapter/transaction.ts'
import type { Condition, WhenHandler } from './condition.ts'
import type { CompensationHandler, Handler } from './handler.ts'
import type { LimitPolicy } from './limit.ts'
import type { OnFailure } from './settled.ts'
import type { Wait } from './wait.ts'

/** What the engine needs to know of one step. Made by `define()` and `defineGraph()`; all durations are milliseconds. */
export interface StepDefinition extends Condition {
  readonly name: string
  /** Position in the definition's canonical topological order. The store identifies the step by it. */
  readonly number: number
  /** Names, in the order they were declared. */
  readonly dependsOn: readonly string[]
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  /** How long an attempt may go without a heartbeat; null for no limit. */
  readonly heartbeatMs: number | null
  /** A step that has lost its worker this many times fails permanently. */
  readonly lossesMax: number
  /** Set when the handler runs in a transaction of the store, which commits with the step's settlement. */
  readonly transaction: TransactionPolicy | null
  /** Null in a process that only starts runs, and for most waiting steps. */
  readonly run: Handler | null
  /** Null for a step that does not wait. */
  readonly wait: Wait | null
  /** Set for the two steps of a map, for the two steps of a loop, and for the rounds of a loop. */
  readonly map: MapOpener | LoopOpener | MapJoin | Round | null
  readonly compensation: Compensation | null
  /** Nothing can undo its effect. */
  readonly irreversible: boolean
  /** Once it has completed, the run goes forward only. */
  readonly pivot: boolean
  /** The numbers of the pivots before this step, ascending. */
  readonly pivotsBefore: readonly number[]
  /** The values that the handler may return, sorted; null for a step that is no choice. */
  readonly cases: readonly string[] | null
  /** What happens to the run if the step fails for good. */
  readonly onFailure: OnFailure
  /** The dependencies of which it gets a `Settled` value, ascending by number; null for none. */
  readonly settled: readonly number[] | null
  /** What decides whether the step runs; null for a step that always runs. */
  readonly branch: BranchPolicy | null
  /** What each attempt enters before its handler is called, with the limits of the workflow first; null for nothing. */
  readonly limits: readonly LimitPolicy[] | null
}

/** What a worker looks at before it runs a step that may be skipped. */
export interface BranchPolicy {
  /** The step's own function. `undefined` if it has none, null in a process that only starts runs. */
  readonly when: WhenHandler | null | undefined
  /** The cases with which the step runs. `step` is the number of the choice, or of the step whose outcome decides. */
  readonly cases: readonly {
    readonly step: number
    readonly cases: readonly string[]
    readonly ofOutcome: boolean
  }[]
  /** The dependencies with which the step is skipped, ascending by number. */
  readonly skippedWith: readonly number[]
}

/** The step that decides a map's items. Its `run` is the map's `over`. */
export interface MapOpener {
  readonly part: 'map'
  /** How each item is executed: with the map's name and the number of this step. */
  readonly item: StepDefinition
  /** How many items may be begun and not ended at a time; null for all. */
  readonly atOnce: number | null
  readonly itemsMax: number
  /** Null: an item's key is its index. */
  readonly keyOf: ItemKey | null
}

/** The step that begins a loop. Its `run` returns what the first round gets as `last`. */
export interface LoopOpener {
  readonly part: 'repeat'
  /** How each round is executed: with the loop's name and the number of this step. */
  readonly item: StepDefinition
}

/** What follows a round of a loop. Functions are null in a process that only starts runs. */
export interface Round {
  readonly part: 'round'
  readonly until: ((context: EndedRound) => unknown) | null
  readonly roundsMax: number
  /** How long after a round the next one begins: milliseconds, or a function that returns a duration. */
  readonly delay: number | ((context: EndedRound) => unknown)
}

/** A round that has ended, as `until` and `delay` see it. */
export interface EndedRound {
  readonly output: unknown
  readonly round: number
  readonly input: unknown
  readonly deps: unknown
}

/** The step that gathers the outputs of a map's items, or takes that of a loop's last round. It has no handler. */
export interface MapJoin {
  readonly part: 'join'
  readonly of: 'map' | 'repeat'
  /** Set if failed items are part of the output. */
  readonly collects: CollectPolicy | null
}

/** When a map that collects failures fails: if fewer items completed, or fewer per cent of them. Null for never. */
export interface CollectPolicy {
  readonly minSuccess: { readonly items: number } | { readonly percent: number } | null
}

export type ItemKey = (item: unknown, index: number) => string

export interface Compensation {
  /** Null in a process that only starts runs. */
  readonly run: CompensationHandler | null
  /** `completed`: undo the step only if it completed. `started`: also if it failed, timed out or lost its worker. */
  readonly on: 'completed' | 'started'
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly heartbeatMs: number | null
  readonly transaction: TransactionPolicy | null
}

export interface TransactionPolicy {
  readonly isolation: Isolation
}

export interface RetryPolicy {
  /** The number of attempts, including the first; at least 1. */
  readonly attempts: number
  readonly backoff: 'exponential' | 'linear' | 'constant'
  readonly initialMs: number
  readonly maxMs: number
  /** Picks each delay at random from the upper half of its value, so that steps that failed together are not retried together. */
  readonly jitter: boolean
  /** No attempt begins or continues later than this after the first failed attempt began; null means no limit. */
  readonly forMs: number | null
}
