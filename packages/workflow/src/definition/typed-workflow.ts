import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { MermaidOptions } from '../graph/mermaid.ts'
import type { CompensateOn, NewName, OutputsWith, StepOptions, StepOutput } from './step-options.ts'
import type { TransactionOption } from './transaction.ts'
import type {
  ApprovalOptions,
  ApprovalOutput,
  PollOptions,
  PollOutput,
  ReceivesAnything,
  ReceivesApproval,
  ReceivesNothing,
  ReceivesSignal,
  SignalOutput,
  SleepOptions,
  WaitForSignalOptions,
} from './wait-options.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** A definition that knows the types of its runs. */
export interface TypedDefinition<Name extends string, Input, Outputs, Sent = ReceivesNothing>
  extends WorkflowDefinition {
  readonly name: Name
  /** Carries types only: there is no such property at run time. */
  readonly '~types'?:
    | { readonly input: Input; readonly outputs: Outputs; readonly receives: Sent }
    | undefined
  /** The graph as a Mermaid flowchart; with `statuses` of a run it is coloured. */
  toMermaid(options?: MermaidOptions): string
}

/**
 * An immutable definition under construction, and at any moment ready to be run as it is. `Input` is what `run()` takes, `Received` what
 * the schema made of it, as handlers see it; `Sent` what its runs can be sent.
 */
export interface Workflow<Name extends string, Input, Outputs, Received = Input, Sent = ReceivesNothing>
  extends TypedDefinition<Name, Input, Outputs, Sent> {
  /**
   * A new definition with one more step; this one stays as it is.
   *
   * @throws DefinitionError for an invalid or doubled name, an unknown dependency or a bad option.
   */
  step<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Output = unknown,
    On extends CompensateOn = 'completed',
    Transaction extends TransactionOption | undefined = undefined,
    UndoTransaction extends TransactionOption | undefined = undefined,
  >(
    name: NewName<StepName, Outputs>,
    options: StepOptions<Received, Outputs, Deps, Output, On, Transaction, UndoTransaction>,
  ): Workflow<Name, Input, OutputsWith<Outputs, StepName, StepOutput<Output>>, Received, Sent>

  /**
   * A step that waits for a time, without a worker, a connection or a promise: a process that dies in between changes nothing. Its output
   * is undefined.
   *
   * @throws DefinitionError as `step()`, and for a negative duration, no instant, both `for` and `until`, or neither.
   */
  sleep<const StepName extends string, const Deps extends readonly string[] | readonly [] = readonly []>(
    name: NewName<StepName, Outputs>,
    options: SleepOptions<Received, Outputs, Deps>,
  ): Workflow<Name, Input, OutputsWith<Outputs, StepName, undefined>, Received, Sent>

  /**
   * A step that waits for a signal, by `run.signal()` or `engine.signal()`; its payload is the output. A signal that is sent before the wait
   * begins is kept for it. A timeout fails the step with code `signal_timeout` unless `onTimeout` gives a stand-in.
   *
   * @throws DefinitionError as `step()`.
   */
  waitForSignal<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Schema extends StandardSchemaV1 = StandardSchemaV1,
    StandIn = never,
  >(
    name: NewName<StepName, Outputs>,
    options?: WaitForSignalOptions<Received, Outputs, Deps, Schema, StandIn>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, SignalOutput<Schema, StandIn>>,
    Received,
    ReceivesSignal<Sent, StepName, Schema>
  >

  /**
   * A step that waits for somebody's decision, by `run.approve()` or `run.reject()`. Its output says who approved and when; a rejection fails
   * it with code `approval_rejected`, without retries, and turns the run to its undo.
   *
   * @throws DefinitionError as `step()`.
   */
  approval<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Schema extends StandardSchemaV1 = StandardSchemaV1,
    StandIn = never,
  >(
    name: NewName<StepName, Outputs>,
    options?: ApprovalOptions<Received, Outputs, Deps, Schema, StandIn>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, ApprovalOutput<Schema, StandIn>>,
    Received,
    ReceivesApproval<Sent, StepName, Schema>
  >

  /**
   * A step that asks `until` again and again, for what cannot call back. Between two checks it holds no worker. A timeout fails it with code
   * `poll_timeout`.
   *
   * @throws DefinitionError as `step()`, and for an `every` that is missing or no time at all.
   */
  poll<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Output = unknown,
  >(
    name: NewName<StepName, Outputs>,
    options: PollOptions<Received, Outputs, Deps, Output>,
  ): Workflow<Name, Input, OutputsWith<Outputs, StepName, PollOutput<Output>>, Received, Sent>
}

/** What `run()` takes for a definition. */
export type InputOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, infer Input, unknown, unknown> ? Input : unknown

/** The outputs of a completed run of a definition, by step. */
export type OutputsOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, unknown, infer Outputs, unknown>
    ? { readonly [Step in keyof Outputs]: Outputs[Step] }
    : Readonly<Record<string, unknown>>

/** What runs of a definition can be sent. */
export type ReceivesOf<Definition extends WorkflowDefinition> =
  Definition extends TypedDefinition<string, unknown, unknown, infer Sent> ? Sent : ReceivesAnything
