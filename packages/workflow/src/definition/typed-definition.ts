import type { MermaidOptions } from '../graph/mermaid.ts'
import type { ReadOutput } from './condition-options.ts'
import type { ReceivesAnything, ReceivesNothing } from './wait-options.ts'
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

/** What `run()` takes for a definition. */
export type InputOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, infer Input, unknown, unknown> ? Input : unknown

/** The outputs of a completed run of a definition, by step. Undefined for a step that was skipped. */
export type OutputsOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, unknown, infer Outputs, unknown>
    ? { readonly [Step in keyof Outputs]: ReadOutput<Outputs[Step], 'run'> }
    : Readonly<Record<string, unknown>>

/** What runs of a definition can be sent. */
export type ReceivesOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, unknown, unknown, infer Sent> ? Sent : ReceivesAnything
