import type { RunCause } from '../cause.ts'
import type { Answer, Cases, ConditionOptions, NoCases, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { ConcurrencyOptions, LimitKeyContext } from './limit-options.ts'
import type { EffectOptions } from './saga-options.ts'
import type { Settled } from './settled.ts'
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
  Failing extends OnItemFailure = 'stop',
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
  /**
   * How many items of this map may be under way at a time, in all worker processes together. With an object instead of a number, or several, how many
   * items of all runs, in total or by key, as for `.step()`. Default: no limit but the workers' own.
   */
  readonly concurrency?:
    | number
    | ConcurrencyOptions<ItemKeyContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Item>>
    | readonly ConcurrencyOptions<ItemKeyContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Item>>[]
    | undefined
  /** The map fails if it has more items. Default 10,000, at most 65,536. */
  readonly itemsMax?: number | undefined
  /**
   * What happens if an item fails for good. `stop`, the default: the run stops, and is undone. `collect`: the other items go on, and the map's output
   * has `{ status: 'completed', output }` or `{ status: 'failed', error }` for each item.
   */
  readonly onFailure?: Failing | undefined
  /** Only with `onFailure: 'collect'`: the map fails if fewer items completed: so many, or so many per cent, as in `'90%'`. */
  readonly minSuccess?: (Failing extends 'collect' ? number | `${number}%` : never) | undefined
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
  /**
   * Instead of `compensate`: undoes all items at once, when the run fails or is cancelled and at least one of them has or may have an effect. Gets
   * those items, in their order.
   */
  readonly compensateAll?:
    | CompensateItems<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Item, Output, On>
    | CompensateItemsOptions<
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

type ItemKeyContext<Input, Deps, Item> = LimitKeyContext<Input, Deps> & ItemContext<Stored<Item>>

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

export interface CompensateItemsOptions<
  Input,
  Deps,
  Item,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
> extends AttemptOptions {
  readonly run: CompensateItems<Input, Deps, Item, Output, On, Transaction>
  readonly transaction?: Transaction | undefined
}

type CompensateItems<Input, Deps, Item, Output, On extends CompensateOn, Transaction = undefined> = (
  context: UndoItemsContext<Input, Deps, UndoneItem<Stored<Item>, StepOutput<Output>, On>> &
    ContextOf<Transaction>,
) => unknown

/** What `compensateAll` is given. */
export interface UndoItemsContext<Input, Deps, Undone> extends StepContext<Input, Deps> {
  /** The items that have an effect, or with `compensateOn: 'started'` may have one, in their order. */
  readonly items: readonly Undone[]
  /** Why the run is being undone. */
  readonly cause: RunCause
}

/** An item as `compensateAll` gets it: as a compensation of its own would. */
export type UndoneItem<Item, Output, On extends CompensateOn> = ItemContext<Item> &
  EndOf<UndoContext<unknown, unknown, Output, On>>

/** Of each member of a union apart, so that `undoOf` tells them apart. */
type EndOf<Context> = Context extends { undoOf: unknown; output: unknown; error: unknown }
  ? Pick<Context, 'undoOf' | 'output' | 'error'>
  : never

/** What happens if an item of a map fails for good. */
export type OnItemFailure = 'stop' | 'collect'

/** The output of a map, with `onFailure: 'collect'` with how each item ended. */
export type MapOutput<Output, Failing extends OnItemFailure = 'stop'> = readonly (Failing extends 'collect'
  ? Settled<ItemOutput<Output>>
  : ItemOutput<Output>)[]

/** What a handler returns as undefined is null there: JSON arrays have no undefined. */
type ItemOutput<Output> =
  undefined extends StepOutput<Output> ? Exclude<StepOutput<Output>, undefined> | null : StepOutput<Output>
