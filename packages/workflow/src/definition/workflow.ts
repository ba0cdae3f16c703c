import type { DefinitionRecord } from '../adapter/records.ts'
import type { StepGraph } from '../graph/graph.ts'
import type { StepDefinition } from './step.ts'

/** A definition as the engine sees it, whatever made it. `Workflow` of the builder extends it with types. */
export interface WorkflowDefinition {
  readonly name: string
  readonly version: number
  /** In canonical topological order: `steps[n].number === n`. */
  readonly steps: readonly StepDefinition[]
  readonly graph: StepGraph
  readonly record: DefinitionRecord
  /** True when every step has its handlers, so that a worker can run it. */
  readonly runnable: boolean
  /** How long after its start a run fails unless it has ended or was given another deadline, in milliseconds. */
  readonly deadlineMs: number | null
  /** Checks an input against the definition's schema and returns what the schema makes of it, or a promise of it. Throws `invalid_input`. */
  validate(input: unknown): unknown
}
