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
  /** Computes the result of a run without the engine: how its steps must have ended if the run completed. Undefined for a workflow without a model. */
  readonly expected: (run: RunFacts) => Readonly<Record<string, ExpectedStep>> | undefined
}
