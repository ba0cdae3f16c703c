import { checkArgument, having } from '../options/index.ts'
import type { Answer, Branched, Cases, Failing, NoCases, OnSkipped } from './condition-options.ts'
import type { OnFailure } from './settled.ts'
import type { CompensateOn, OutputsWith, StepOptions, StepOutput } from './step-options.ts'
import type { TransactionOption } from './transaction.ts'
import type { Workflow } from './typed-workflow.ts'

const WORKFLOW = having<{ step: unknown }>('a workflow made by define()', ['step'])

/** The outputs of a workflow whose steps the helper does not know. */
type AnyOutputs = Readonly<Record<string, unknown>>

/**
 * Adds a step to any workflow, for helpers. Does what `workflow.step()` does, but a helper cannot know the workflow's step names. So the compiler
 * checks no names: a duplicate name or an unknown dependency throws at run time, and the values of `deps` are `unknown`.
 *
 * ```ts
 * function withAudit<Name extends string, Input, Outputs, Received, Sent>(
 *   workflow: Workflow<Name, Input, Outputs, Received, Sent>,
 * ) {
 *   return addStep(workflow, 'audit', { run: ({ runId }) => writeAudit(runId) })
 * }
 * ```
 *
 * @throws DefinitionError like `step()`.
 */
export function addStep<
  Name extends string,
  Input,
  Outputs,
  Received,
  Sent,
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
  workflow: Workflow<Name, Input, Outputs, Received, Sent>,
  name: StepName,
  options: StepOptions<
    Received,
    AnyOutputs,
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
  OutputsWith<
    Outputs,
    StepName,
    Branched<Failing<StepOutput<Output>, Fails>, Outputs, Deps, Skipping, Given, Wanted>
  >,
  Received,
  Sent
> {
  checkArgument('addStep()', 'the workflow', workflow, WORKFLOW)
  return workflow.step(name as never, options as never) as never
}
