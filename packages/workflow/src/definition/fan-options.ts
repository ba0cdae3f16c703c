import type { Answer, Cases, ConditionOptions, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { ItemContext, OnItemFailure } from './map-options.ts'
import type { Dependencies, DepsOf, DepsWith, StepDefaults } from './step-options.ts'
import type { Stored } from './stored.ts'
import type { ChildKeyContext } from './wait.ts'

/**
 * What `.workflow()` takes with `over`: one child for each item of an array that is known only in the run. `ChildInput` and `Outputs` are the child's
 * input and the outputs of the steps defined before.
 */
export type FanOptions<
  Received,
  Outputs,
  ChildInput,
  Deps extends readonly string[],
  Item,
  Detached extends boolean,
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
  Failing extends OnItemFailure,
> = ConditionOptions<Received, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> &
  // Retries of `over`, and of the look at a child.
  Pick<StepDefaults, 'retry' | 'lossesMax'> & {
    /** Names of the steps that must complete first. `over` and `input` get their outputs as `deps`. Default: none. */
    readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
    /** Returns the items, as an array of JSON values. Each item becomes a durable row of the run, which starts a child. */
    readonly over: (
      context: StepContext<Received, DepsWith<Outputs, Deps, Skipping, Wanted>>,
    ) => readonly Item[] | Promise<readonly Item[]>
    /** A text that identifies an item: part of its name, `ship[key]`, and of its child's key. Default: its index. */
    readonly itemKey?: ((item: Stored<Item>, index: number) => string) | undefined
    /** How many children may be under way at a time, in all worker processes together. Default: no limit. */
    readonly concurrency?: number | undefined
    /** The step fails if it has more items. Default 10,000, at most 65,536. */
    readonly itemsMax?: number | undefined
    /** As for `.map()`. `collect`: the other children go on when one fails, and the output tells how each of them ended. Default `stop`. */
    readonly onFailure?: Failing | undefined
    /** Only with `onFailure: 'collect'`, as for `.map()`: the step fails if fewer children completed. */
    readonly minSuccess?: (Failing extends 'collect' ? number | `${number}%` : never) | undefined
    /** Computes the input of an item's child. It is called before the child starts, and again only if that was in vain. Default: the item. */
    readonly input?:
      | ((
          context: StepContext<Received, DepsWith<Outputs, Deps, Skipping, Wanted>> &
            ItemContext<Stored<Item>>,
        ) => ChildInput | Promise<ChildInput>)
      | undefined
    /** The key of an item's child, unique per workflow. It must return the same text whenever it is called. Default: made from the parent and the item. */
    readonly key?:
      | ((
          context: ChildKeyContext<Received, DepsWith<Outputs, Deps, Skipping, Wanted>> &
            ItemContext<Stored<Item>>,
        ) => string)
      | undefined
    /** Nobody waits for the children: the output is the array of their ids, and the parent's undo leaves them alone. Default false. */
    readonly detached?: Detached | undefined
    /** `false`: children that have completed keep their effects when the parent is undone. */
    readonly compensate?: false | undefined
    /** How many parents above one another a child may have, 1 to 100. Default 10. */
    readonly depthMax?: number | undefined
  } & NeededInput<Stored<Item>, ChildInput>

/** Items that are no input of the child need `input`. The compiler asks for unknown items first, before it has looked at what `over` returns. */
type NeededInput<Item, ChildInput> = unknown extends Item
  ? unknown
  : [Item] extends [ChildInput]
    ? unknown
    : { readonly input: unknown }
