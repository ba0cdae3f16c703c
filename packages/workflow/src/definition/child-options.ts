import type { Answer, Cases, ConditionOptions, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { FailingOptions, OnFailure } from './settled.ts'
import type { Dependencies, DepsOf, DepsWith, StepDefaults, StepOutput } from './step-options.ts'
import type { InputOf, OutputsOf } from './typed-definition.ts'
import type { ChildKeyContext } from './wait.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** What `.workflow()` takes. `ChildInput` and `Outputs` are the child's input and the outputs of the steps defined before. */
export type ChildOptions<
  Received,
  Outputs,
  ChildInput,
  Deps extends readonly string[],
  Detached extends boolean,
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
  Fails extends OnFailure,
> = ConditionOptions<Received, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> &
  FailingOptions<Fails> &
  InputOption<Received, ChildInput, DepsWith<Outputs, Deps, Skipping, Wanted>> &
  // Retries of the look at the child, which does nothing but call `input` and ask the store.
  OwnChildOptions<Detached> & {
    /** Names of the steps that must complete before the child starts. `input` gets their outputs as `deps`. Default: none. */
    readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
    /**
     * The child's key: the business event that it belongs to, unique per workflow. A function must return the same text whenever it is called. If the
     * step runs again after it was undone, its next child gets the key with the step's round, like `order:7:2`. Default: made from the parent.
     */
    readonly key?:
      | string
      | ((context: ChildKeyContext<Received, DepsWith<Outputs, Deps, Skipping, Wanted>>) => string)
      | undefined
  }

/** What does not depend on how many children there are. */
export interface OwnChildOptions<Detached extends boolean> extends Pick<StepDefaults, 'retry' | 'lossesMax'> {
  /**
   * The step completes at once, with the child's id: nobody waits for the child, and the parent's undo leaves it alone. Default false.
   */
  readonly detached?: Detached | undefined
  /** `false`: a child that has completed keeps its effects when the parent is undone. A child that has not ended is cancelled all the same. */
  readonly compensate?: false | undefined
  /** How many parents above one another the child may have, 1 to 100. One more fails the step. Default 10. */
  readonly depthMax?: number | undefined
}

/** A child whose input the parent's fits may do without `input`. */
type InputOption<Received, ChildInput, Deps> = [Received] extends [ChildInput]
  ? { readonly input?: ComputedInput<Received, ChildInput, Deps> | undefined }
  : { readonly input: ComputedInput<Received, ChildInput, Deps> }

/** A child that is started without options: the parent's input must be one for it. */
export type ChildAlone<Received, Child extends WorkflowDefinition | string> = [Received] extends [
  ChildInputOf<Child>,
]
  ? Child
  : 'The child takes another input than this workflow: give { input }, which computes it.'

/** Computes the child's input. It is called before the child starts, and again only if that was in vain. Default: the parent's input. */
type ComputedInput<Received, ChildInput, Deps> = (
  context: StepContext<Received, Deps>,
) => ChildInput | Promise<ChildInput>

/** A child that is given by its name has an input and outputs of any type. */
export type ChildInputOf<Child extends WorkflowDefinition | string> = Child extends WorkflowDefinition
  ? InputOf<Child>
  : unknown

/** The output of a step that starts a child: the child's outputs, or the id of a child for which nobody waits. */
export type ChildOutputOf<
  Child extends WorkflowDefinition | string,
  Detached extends boolean,
> = Detached extends true
  ? { readonly runId: string }
  : StepOutput<Child extends WorkflowDefinition ? OutputsOf<Child> : unknown>
