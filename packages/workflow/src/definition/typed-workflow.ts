import type { MermaidOptions } from '../graph/mermaid.ts'
import type { CompensateOn, NewName, OutputsWith, StepOptions, StepOutput } from './step-options.ts'
import type { TransactionOption } from './transaction.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** A definition that knows the types of its runs. */
export interface TypedDefinition<Name extends string, Input, Outputs> extends WorkflowDefinition {
  readonly name: Name
  /** Carries types only: there is no such property at run time. */
  readonly '~types'?: { readonly input: Input; readonly outputs: Outputs } | undefined
  /** The graph as a Mermaid flowchart; with `statuses` of a run it is coloured. */
  toMermaid(options?: MermaidOptions): string
}

/**
 * An immutable definition under construction, and at any moment ready to be run as it is. `Input` is what `run()` takes, `Received` what
 * the schema made of it, as handlers see it.
 */
export interface Workflow<Name extends string, Input, Outputs, Received = Input>
  extends TypedDefinition<Name, Input, Outputs> {
  /**
   * A new definition with one more step; this one stays as it is.
   *
   * @throws DefinitionError for an invalid or doubled name, an unknown dependency or a bad option.
   */
  step<
    const StepName extends string,
    const Deps extends readonly string[] = readonly [],
    Output = unknown,
    On extends CompensateOn = 'completed',
    Transaction extends TransactionOption | undefined = undefined,
    UndoTransaction extends TransactionOption | undefined = undefined,
  >(
    name: NewName<StepName, Outputs>,
    options: StepOptions<Received, Outputs, Deps, Output, On, Transaction, UndoTransaction>,
  ): Workflow<Name, Input, OutputsWith<Outputs, StepName, StepOutput<Output>>, Received>
}

/** What `run()` takes for a definition. */
export type InputOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, infer Input, unknown> ? Input : unknown

/** The outputs of a completed run of a definition, by step. */
export type OutputsOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, unknown, infer Outputs>
    ? { readonly [Step in keyof Outputs]: Outputs[Step] }
    : Readonly<Record<string, unknown>>
