import type { Answer, Cases, ConditionOptions, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { Dependencies, DepsOf, DepsWith, StepDefaults } from './step-options.ts'

/** What `.choose()` takes. `retry` and `timeout` are for an `on` that throws or takes long. */
export interface ChooseOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Case extends string,
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
> extends StepDefaults,
    ConditionOptions<Input, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> {
  /** Names of the steps that must complete before the choice is made. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  /** Every case that `on` may return. */
  readonly cases: readonly Case[]
  /** Returns one of the cases. Anything else fails the step permanently. */
  readonly on: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>,
  ) => NoInfer<Case> | Promise<NoInfer<Case>>
}
