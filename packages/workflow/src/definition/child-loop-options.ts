import type { Duration } from '../duration.ts'
import type { ChildInputOf, ChildOutputOf, OwnChildOptions } from './child-options.ts'
import type { Answer, Cases, ConditionOptions, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { EndedRoundContext, RoundContext } from './loop-options.ts'
import type { FailingOptions, OnFailure } from './settled.ts'
import type { Dependencies, DepsOf, DepsWith } from './step-options.ts'
import type { Stored } from './stored.ts'
import type { ChildKeyContext } from './wait.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** What `.repeat()` takes with a child, of which each round starts one. `Outputs` are the outputs of the steps defined before. */
export type ChildLoopOptions<
  Received,
  Outputs,
  Child extends WorkflowDefinition | string,
  Deps extends readonly string[],
  First,
  Detached extends boolean,
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
  Fails extends OnFailure,
> = ConditionOptions<Received, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> &
  FailingOptions<Fails> &
  // Retries of `first`, and of each look at a child: these call `input`, `until` and `delay`, and ask the store.
  OwnChildOptions<Detached> &
  RoundOptions<
    Received,
    DepsWith<Outputs, Deps, Skipping, Wanted>,
    First,
    ChildInputOf<Child>,
    ChildOutputOf<Child, Detached>
  > &
  NeededInput<Received, ChildInputOf<Child>> & {
    /** Names of the steps that must complete first. `first`, `input` and `until` get their outputs as `deps`. Default: none. */
    readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  }

/** `ChildOutput` is the output of a round: the outputs of its child. */
interface RoundOptions<Received, Deps, First, ChildInput, ChildOutput> {
  /** Returns what the first round gets as `last`. It is called once, or again after it failed. Write it before `input`. Default: undefined. */
  readonly first?: ((context: StepContext<Received, Deps>) => First | Promise<First>) | undefined
  /** Computes the input of a round's child. It is called before the child starts, and again only if that was in vain. Default: the parent's input. */
  readonly input?:
    | ((
        context: StepContext<Received, Deps> & RoundContext<Stored<First> | ChildOutput>,
      ) => ChildInput | Promise<ChildInput>)
    | undefined
  /** Tells, after each child that completed, whether it was the last. It must not have effects. If it throws, it is called again, as `retry` says. */
  readonly until: (context: EndedRoundContext<Received, Deps, ChildOutput>) => boolean | Promise<boolean>
  /** If so many rounds were not enough, the last one fails for good with code `rounds_exhausted`. Default 1,000, at most 65,536. */
  readonly max?: number | undefined
  /** How long after the end of a child the next one starts. A function is called after each round but the last. Default: at once. */
  readonly delay?:
    | Duration
    | ((context: EndedRoundContext<Received, Deps, ChildOutput>) => Duration | Promise<Duration>)
    | undefined
  /** The key of a round's child, unique per workflow. It must return the same text whenever it is called. Default: made from the parent and the round. */
  readonly key?:
    | ((context: ChildKeyContext<Received, Deps> & RoundContext<Stored<First> | ChildOutput>) => string)
    | undefined
}

/** Children that do not take the parent's input need `input`. As a type of its own: the compiler looks at it once `first` has told the type of `last`. */
type NeededInput<Received, ChildInput> = [Received] extends [ChildInput]
  ? unknown
  : { readonly input: unknown }
