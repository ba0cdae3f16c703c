import type { Answer, Cases, ConditionOptions, NoCases, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { EffectOptions } from './saga-options.ts'
import type {
  AttemptOptions,
  CompensateOn,
  Dependencies,
  DepsOf,
  DepsWith,
  HeartbeatOptions,
  StepDefaults,
  StepOutput,
  UndoContext,
} from './step-options.ts'
import type { StorableOutput } from './storable.ts'
import type { Stored } from './stored.ts'
import type { ContextOf, TransactionOption } from './transaction.ts'

/** What the handler and the compensation of an item are given in addition. */
export interface ItemContext<Item = unknown> {
  /** The item, as it was stored. */
  readonly item: Item
  /** Its key: what `itemKey` returned for it, or its index as text. */
  readonly itemKey: string
  /** Its place in what `over` returned, from 0. */
  readonly index: number
}

/** What `.map()` takes. `Outputs` are the outputs of the steps defined before. `retry`, `timeout`, `heartbeatTimeout` and `lossesMax` hold for each item. */
export interface MapOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Item,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
  UndoTransaction extends TransactionOption | undefined = undefined,
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
> extends StepDefaults,
    HeartbeatOptions,
    EffectOptions,
    ConditionOptions<Input, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> {
  /** Names of the steps that must complete first. `over` and the handlers get their outputs as `deps`. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  /**
   * Returns the items, as an array of JSON values. It is called once, or again after it failed. Each item becomes a durable row of the run. An
   * empty array completes the map at once.
   */
  readonly over: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>,
  ) => readonly Item[] | Promise<readonly Item[]>
  /** A text that identifies an item in its map: part of its idempotency key and of its name, `resize[key]`. Default: its index. */
  readonly itemKey?: ((item: Stored<Item>, index: number) => string) | undefined
  /** How many items may be under way at a time, in all worker processes together. Default: no limit but the workers' own. */
  readonly concurrency?: number | undefined
  /** The map fails if it has more items. Default 10,000, at most 65,536. */
  readonly itemsMax?: number | undefined
  /** The handler of each item. The map's output is an array of their return values, in the order of the items. */
  readonly run: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>> &
      ItemContext<Stored<Item>> &
      ContextOf<Transaction>,
  ) => Output & StorableOutput<Output>
  /** Runs each item's handler in a transaction of its own, as for `.step()`. */
  readonly transaction?: Transaction | undefined
  /** Undoes an item when the run fails or is cancelled. */
  readonly compensate?:
    | CompensateItem<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Item, Output, On>
    | CompensateItemOptions<
        Input,
        DepsWith<Outputs, Deps, Skipping, Wanted>,
        Item,
        Output,
        On,
        UndoTransaction
      >
    | undefined
  /** As for `.step()`, for each item. */
  readonly compensateOn?: On | undefined
}

export interface CompensateItemOptions<
  Input,
  Deps,
  Item,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
> extends AttemptOptions,
    HeartbeatOptions {
  readonly run: CompensateItem<Input, Deps, Item, Output, On, Transaction>
  readonly transaction?: Transaction | undefined
}

type CompensateItem<Input, Deps, Item, Output, On extends CompensateOn, Transaction = undefined> = (
  context: UndoContext<Input, Deps, StepOutput<Output>, On> &
    ItemContext<Stored<Item>> &
    ContextOf<Transaction>,
) => unknown

/** The output of a map. What a handler returns as undefined is null there: JSON arrays have no undefined. */
export type MapOutput<Output> = readonly (undefined extends StepOutput<Output>
  ? Exclude<StepOutput<Output>, undefined> | null
  : StepOutput<Output>)[]
