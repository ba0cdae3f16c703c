import type { DefinitionRecord } from '../adapter/records.ts'
import type { StepGraph } from '../graph/graph.ts'
import type { StartPolicy } from './start-policy.ts'
import type { StepDefinition } from './step.ts'

/** A definition as the engine sees it, from `define()` or `defineGraph()`. The builder's `Workflow` adds types. */
export interface WorkflowDefinition {
  readonly name: string
  readonly version: number
  /** In canonical topological order: `steps[n].number === n`. */
  readonly steps: readonly StepDefinition[]
  readonly graph: StepGraph
  readonly record: DefinitionRecord
  /** True when every step has its handlers, so that a worker can run it. */
  readonly runnable: boolean
  /** Of a workflow with end steps, the workflow of its follow-ups: each end of a run starts one. */
  readonly followUp: WorkflowDefinition | null
  /** How long a run may take from its start, in milliseconds, unless its start sets another deadline; null means no limit. */
  readonly deadlineMs: number | null
  /** The priority of its runs, unless their start sets another. */
  readonly priority: number
  /** How calls are collected into runs. Null or absent: each call starts a run. */
  readonly start?: StartPolicy | null | undefined
  /** Checks an input against the definition's schema. Returns the schema's output, or a promise of it. Throws `invalid_input`. */
  validate(input: unknown): unknown
}
