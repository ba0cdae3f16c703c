import type { MermaidOptions } from '../graph/mermaid.ts'
import type { ReceivesNothing } from './wait-options.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** A definition that knows the types of its runs. */
export interface TypedDefinition<Name extends string, Input, Outputs, Sent = ReceivesNothing>
  extends WorkflowDefinition {
  readonly name: Name
  /** Carries types only: there is no such property at run time. */
  readonly '~types'?:
    | { readonly input: Input; readonly outputs: Outputs; readonly receives: Sent }
    | undefined
  /** The graph as a Mermaid flowchart. The option `statuses`, from a run, colours its steps. */
  toMermaid(options?: MermaidOptions): string
}
