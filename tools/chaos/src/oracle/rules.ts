import type { Holder } from '@belay/limits-soak/judge'
import type { StepStatus } from '@belay/workflow/adapter'
import type { RunFacts } from './facts.ts'
import type { EffectRules } from './judge-effects.ts'
import type { LedgerRules } from './judge-ledger.ts'

/** For each step, all steps that it builds on. A map or a loop is one step. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** After which ends an end step runs. */
export type EndOf = 'completed' | 'failed' | 'compensated' | 'any'

/** How a step of a completed run must have ended. */
export interface ExpectedStep {
  readonly status: StepStatus
  /** Checked if given. */
  readonly output?: unknown
}

/** The child of a step, or of each round of a loop. */
export interface ChildRule {
  readonly workflow: string
  readonly isDetached: boolean
  /** Of a loop: how many rounds it has if it completes. */
  readonly rounds?: number
}

/** Handlers that hold a slot of a limit. Of a run's limit: from its first handler to its last, undos included. */
export interface SlotRule {
  readonly limit: string
  readonly most: number
  readonly workflow: string
  readonly steps: readonly string[]
  readonly of: Holder
  readonly key: (input: unknown) => string
}

export interface RateRule {
  readonly name: string
  readonly limit: number
  readonly perMs: number
  readonly burst: number
}

/** What the oracle knows of flow control. */
export interface FlowRules {
  readonly slots: readonly SlotRule[]
  readonly rates: readonly RateRule[]
  /** Workflows that collect calls: a run has the input of one of its calls, or of all. */
  readonly collecting: Readonly<Record<string, 'one' | 'all'>>
  /** The workflow of all schedules. */
  readonly ticking: string
  /** The schedule that fires each second, whatever happens. */
  readonly eachSecond: string
  /** Schedules whose runs are never live at the same time. */
  readonly oneAtATime: readonly string[]
}

/** What the oracle knows of the load, by workflow. */
export interface Rules extends EffectRules, LedgerRules {
  /** Where the order of effects and of undos is judged. */
  readonly graphs: Readonly<Record<string, Graph>>
  /** Steps with a compensation of their own. */
  readonly undoable: Readonly<Record<string, ReadonlySet<string>>>
  readonly loops: Readonly<Record<string, readonly string[]>>
  /** A map, and the most of its items that may be under way. */
  readonly limits: Readonly<Record<string, { readonly step: string; readonly most: number }>>
  readonly pivots: Readonly<Record<string, string>>
  /** By the name of the parent's step. */
  readonly children: Readonly<Record<string, ChildRule>>
  readonly ends: Readonly<Record<string, Readonly<Record<string, EndOf>>>>
  /** What the world saw of runs that operators retried after they had ended: the sighting's name. */
  readonly retried: string
  /** The step that publishes the value `digest`. */
  readonly values: Readonly<Record<string, string>>
  readonly flow: FlowRules
  /** Computes the result of a run without the engine: how its steps must have ended if the run completed. Undefined for a workflow without a model. */
  readonly expected: (run: RunFacts) => Readonly<Record<string, ExpectedStep>> | undefined
}
