import { checkArgument, having } from '../options/index.ts'
import type { CompensateOn, OutputsWith, StepOptions, StepOutput } from './step-options.ts'
import type { TransactionOption } from './transaction.ts'
import type { Workflow } from './typed-workflow.ts'

const WORKFLOW = having<{ step: unknown }>('a workflow made by define()', ['step'])

/** Outputs of steps that are not known to whoever writes the helper. */
type AnyOutputs = Readonly<Record<string, unknown>>

/**
 * As `workflow.step()`, for helpers that add a step to any workflow. They cannot know the names of its steps, so the compiler does not check
 * them: a name that is taken and a dependency that is not there are refused at run time, and `deps` has values of type `unknown`.
 *
 * ```ts
 * function withAudit<Name extends string, Input, Outputs, Received, Sent>(
 *   workflow: Workflow<Name, Input, Outputs, Received, Sent>,
 * ) {
 *   return addStep(workflow, 'audit', { run: ({ runId }) => writeAudit(runId) })
 * }
 * ```
 *
 * @throws DefinitionError as `step()`.
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
>(
  workflow: Workflow<Name, Input, Outputs, Received, Sent>,
  name: StepName,
  options: StepOptions<Received, AnyOutputs, Deps, Output, On, Transaction, UndoTransaction>,
): Workflow<Name, Input, OutputsWith<Outputs, StepName, StepOutput<Output>>, Received, Sent> {
  checkArgument('addStep()', 'the workflow', workflow, WORKFLOW)
  return workflow.step(name as never, options as never) as never
}
