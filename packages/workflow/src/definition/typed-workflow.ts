import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { MermaidOptions } from '../graph/mermaid.ts'
import type { ChooseOptions } from './choose-options.ts'
import type { Answer, Branched, Cases, Chosen, NoCases, OnSkipped, ReadOutput } from './condition-options.ts'
import type { RepeatOptions } from './loop-options.ts'
import type { MapOptions, MapOutput, OnItemFailure } from './map-options.ts'
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
  /** The graph as a Mermaid flowchart. The option `statuses`, from a run, colours its steps. */
  toMermaid(options?: MermaidOptions): string
}

/**
 * An immutable definition to which steps can be added. It can be run at any point. `Input` is what `run()` takes; `Received` is the schema's
 * output, which handlers get; `Sent` is what its runs can be sent.
 */
export interface Workflow<Name extends string, Input, Outputs, Received = Input, Sent = ReceivesNothing>
  extends TypedDefinition<Name, Input, Outputs, Sent> {
  /**
   * Returns a new definition with one more step; this one does not change.
   *
   * @throws DefinitionError for an invalid or duplicate name, an unknown dependency or an invalid option.
   */
  step<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Output = unknown,
    On extends CompensateOn = 'completed',
    Transaction extends TransactionOption | undefined = undefined,
    UndoTransaction extends TransactionOption | undefined = undefined,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options: StepOptions<
      Received,
      Outputs,
      Deps,
      Output,
      On,
      Transaction,
      UndoTransaction,
      Skipping,
      Given,
      Wanted
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, Branched<StepOutput<Output>, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >

  /**
   * A step that chooses one of `cases`, which is its output. Steps that name a case in `when` run with that case, and are skipped with any other.
   * The choice is made once: a retry or a crash never makes another. It has no effect to undo.
   *
   * @throws DefinitionError like `step()`, and without cases.
   */
  choose<
    const StepName extends string,
    const Case extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options: ChooseOptions<Received, Outputs, Deps, Case, Skipping, Given, Wanted>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, Branched<Chosen<Case>, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >

  /**
   * Runs a handler for each item of an array that is known only in the run: a durable row per item, with its own attempts, retries and undo. Its
   * output is the array of the items' outputs. If an item fails for good, the run fails, and all completed items are undone.
   *
   * @throws DefinitionError as `step()`.
   */
  map<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Item = unknown,
    Output = unknown,
    On extends CompensateOn = 'completed',
    Transaction extends TransactionOption | undefined = undefined,
    UndoTransaction extends TransactionOption | undefined = undefined,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
    Failing extends OnItemFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    options: MapOptions<
      Received,
      Outputs,
      Deps,
      Item,
      Output,
      On,
      Transaction,
      UndoTransaction,
      Skipping,
      Given,
      Wanted,
      Failing
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<MapOutput<Output, Failing>, Outputs, Deps, Skipping, Given, Wanted>
    >,
    Received,
    Sent
  >

  /**
   * Runs a handler again and again, until `until` says so: a durable row per round, with its own attempts, retries and undo. Its output is that of
   * the last round. If the run fails, all completed rounds are undone, the last one first.
   *
   * @throws DefinitionError as `step()`.
   */
  repeat<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Last = unknown,
    Output = unknown,
    On extends CompensateOn = 'completed',
    Transaction extends TransactionOption | undefined = undefined,
    UndoTransaction extends TransactionOption | undefined = undefined,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options: RepeatOptions<
      Received,
      Outputs,
      Deps,
      Last,
      Output,
      On,
      Transaction,
      UndoTransaction,
      Skipping,
      Given,
      Wanted
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, Branched<StepOutput<Output>, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >

  /**
   * A step that waits for a time. It holds no worker, connection or promise meanwhile, so it survives the death of any process. Its output is
   * undefined.
   *
   * @throws DefinitionError like `step()`, and for a negative duration, an invalid instant, and unless exactly one of `for` and `until` is given.
   */
  sleep<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options: SleepOptions<Received, Outputs, Deps, Skipping, Given, Wanted>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, Branched<undefined, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >

  /**
   * A step that waits for a signal, sent by `run.signal()` or `engine.signal()`. The signal's payload is its output. A signal sent before the wait
   * begins is kept. A timeout fails the step with code `signal_timeout`, unless `onTimeout` gives a stand-in.
   *
   * @throws DefinitionError as `step()`.
   */
  waitForSignal<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Schema extends StandardSchemaV1 = StandardSchemaV1,
    StandIn = never,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options?: WaitForSignalOptions<Received, Outputs, Deps, Schema, StandIn, Skipping, Given, Wanted>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<SignalOutput<Schema, StandIn>, Outputs, Deps, Skipping, Given, Wanted>
    >,
    Received,
    ReceivesSignal<Sent, StepName, Schema>
  >

  /**
   * A step that waits for a decision, by `run.approve()` or `run.reject()`. Its output says who approved and when. A rejection fails the step with
   * code `approval_rejected`, without retries, and the run is undone.
   *
   * @throws DefinitionError as `step()`.
   */
  approval<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Schema extends StandardSchemaV1 = StandardSchemaV1,
    StandIn = never,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options?: ApprovalOptions<Received, Outputs, Deps, Schema, StandIn, Skipping, Given, Wanted>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<ApprovalOutput<Schema, StandIn>, Outputs, Deps, Skipping, Given, Wanted>
    >,
    Received,
    ReceivesApproval<Sent, StepName, Schema>
  >

  /**
   * A step that calls `until` at intervals, for systems that cannot call back. It holds no worker between checks. A timeout fails it with code
   * `poll_timeout`.
   *
   * @throws DefinitionError like `step()`, and for an `every` that is missing or 0.
   */
  poll<
    const StepName extends string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Output = unknown,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
  >(
    name: NewName<StepName, Outputs>,
    options: PollOptions<Received, Outputs, Deps, Output, Skipping, Given, Wanted>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, Branched<PollOutput<Output>, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >
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
