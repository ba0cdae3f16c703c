// biome-ignore-all lint/style/noExcessiveLinesPerFile: every method returns the interface, so parts of it in files of their own would import each other.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ChildLoopOptions } from './child-loop-options.ts'
import type { ChildAlone, ChildInputOf, ChildOptions, ChildOutputOf } from './child-options.ts'
import type { ChooseOptions } from './choose-options.ts'
import type { Answer, Branched, Cases, Chosen, Failing, NoCases, OnSkipped } from './condition-options.ts'
import type { EndSteps } from './end-options.ts'
import type { FanOptions } from './fan-options.ts'
import type { RepeatOptions } from './loop-options.ts'
import type { MapOptions, MapOutput, OnItemFailure } from './map-options.ts'
import type { OnFailure } from './settled.ts'
import type { CompensateOn, NewName, OutputsWith, StepOptions, WorkedOutput } from './step-options.ts'
import type { TransactionOption } from './transaction.ts'
import type { TypedDefinition } from './typed-definition.ts'
import type {
  ApprovalOptions,
  ApprovalOutput,
  PollOptions,
  PollOutput,
  ReceivesApproval,
  ReceivesNothing,
  ReceivesSignal,
  SignalOutput,
  SleepOptions,
  WaitForSignalOptions,
} from './wait-options.ts'
import type { WorkflowDefinition } from './workflow.ts'

/**
 * An immutable definition to which steps can be added. It can be run at any point. `Input` is what `run()` takes; `Received` is the schema's
 * output, which handlers get; `Sent` is what its runs can be sent.
 */
export interface Workflow<Name extends string, Input, Outputs, Received = Input, Sent = ReceivesNothing>
  extends TypedDefinition<Name, Input, Outputs, Sent>,
    EndSteps<Name, Input, Outputs, Received, Sent, Readonly<Record<never, never>>> {
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
    Fails extends OnFailure = 'stop',
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
      Wanted,
      Fails
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, WorkedOutput<Output, Fails, Outputs, Deps, Skipping, Given, Wanted>>,
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
   * the last round. If the run fails, all completed rounds are undone, the last one first. With `onFailure: 'continue'` the run goes on although the
   * loop failed.
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
    Fails extends OnFailure = 'stop',
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
      Wanted,
      Fails
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, WorkedOutput<Output, Fails, Outputs, Deps, Skipping, Given, Wanted>>,
    Received,
    Sent
  >

  /**
   * With a child: starts one in each round, and waits for it without a worker, until `until` says so. Its output is that of the last child. If a child
   * fails, the loop fails. If the run fails, the children of all completed rounds are undone, the last one first.
   *
   * @throws DefinitionError as `step()`.
   */
  repeat<
    const StepName extends string,
    const ChildWorkflow extends WorkflowDefinition | string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    First = undefined,
    const Detached extends boolean = false,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    child: ChildWorkflow,
    options: ChildLoopOptions<
      Received,
      Outputs,
      ChildWorkflow,
      Deps,
      First,
      Detached,
      Skipping,
      Given,
      Wanted,
      Fails
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<Failing<ChildOutputOf<ChildWorkflow, Detached>, Fails>, Outputs, Deps, Skipping, Given, Wanted>
    >,
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
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    options: SleepOptions<Received, Outputs, Deps, Skipping, Given, Wanted, Fails>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<Failing<undefined, Fails>, Outputs, Deps, Skipping, Given, Wanted>
    >,
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
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    options?: WaitForSignalOptions<Received, Outputs, Deps, Schema, StandIn, Skipping, Given, Wanted, Fails>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<
        Failing<SignalOutput<StandardSchemaV1.InferOutput<Schema>, StandIn>, Fails>,
        Outputs,
        Deps,
        Skipping,
        Given,
        Wanted
      >
    >,
    Received,
    ReceivesSignal<Sent, StepName, StandardSchemaV1.InferInput<Schema>>
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
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    options?: ApprovalOptions<Received, Outputs, Deps, Schema, StandIn, Skipping, Given, Wanted, Fails>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<
        Failing<ApprovalOutput<StandardSchemaV1.InferOutput<Schema>, StandIn>, Fails>,
        Outputs,
        Deps,
        Skipping,
        Given,
        Wanted
      >
    >,
    Received,
    ReceivesApproval<Sent, StepName, StandardSchemaV1.InferInput<Schema>>
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
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    options: PollOptions<Received, Outputs, Deps, Output, Skipping, Given, Wanted, Fails>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<Failing<PollOutput<Output>, Fails>, Outputs, Deps, Skipping, Given, Wanted>
    >,
    Received,
    Sent
  >

  /**
   * With `over`: starts a child for each item of an array that is known only in the run, and waits for them all without a worker. Its output is the
   * array of the children's outputs, in the order of the items; with `onFailure: 'collect'`, of how each of them ended.
   *
   * @throws DefinitionError as `step()`.
   */
  workflow<
    const StepName extends string,
    const ChildWorkflow extends WorkflowDefinition | string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    Item = unknown,
    const Detached extends boolean = false,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
    Failing extends OnItemFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    child: ChildWorkflow,
    options: FanOptions<
      Received,
      Outputs,
      ChildInputOf<ChildWorkflow>,
      Deps,
      Item,
      Detached,
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
      Branched<
        MapOutput<ChildOutputOf<ChildWorkflow, Detached>, Failing>,
        Outputs,
        Deps,
        Skipping,
        Given,
        Wanted
      >
    >,
    Received,
    Sent
  >

  /**
   * A step that starts a run of another workflow, its child, and waits for it without a worker. The child's outputs are its output. If the child
   * fails, the step fails for good with code `child_failed`. A cancellation, a pause and the undo of this run reach the child. `child` is a
   * definition, or the name of one, also of this workflow itself.
   *
   * @throws DefinitionError as `step()`.
   */
  workflow<
    const StepName extends string,
    const ChildWorkflow extends WorkflowDefinition | string,
    const Deps extends readonly string[] | readonly [] = readonly [],
    const Detached extends boolean = false,
    Skipping extends OnSkipped = 'skip',
    Given extends Answer = never,
    const Wanted extends Cases = NoCases,
    Fails extends OnFailure = 'stop',
  >(
    name: NewName<StepName, Outputs>,
    child: ChildWorkflow,
    options: ChildOptions<
      Received,
      Outputs,
      ChildInputOf<ChildWorkflow>,
      Deps,
      Detached,
      Skipping,
      Given,
      Wanted,
      Fails
    >,
  ): Workflow<
    Name,
    Input,
    OutputsWith<
      Outputs,
      StepName,
      Branched<Failing<ChildOutputOf<ChildWorkflow, Detached>, Fails>, Outputs, Deps, Skipping, Given, Wanted>
    >,
    Received,
    Sent
  >

  /**
   * Without options: the child gets this run's input.
   *
   * @throws DefinitionError as `step()`.
   */
  workflow<const StepName extends string, const ChildWorkflow extends WorkflowDefinition | string>(
    name: NewName<StepName, Outputs>,
    child: ChildAlone<Received, ChildWorkflow>,
  ): Workflow<
    Name,
    Input,
    OutputsWith<Outputs, StepName, ChildOutputOf<ChildWorkflow, false>>,
    Received,
    Sent
  >
}
