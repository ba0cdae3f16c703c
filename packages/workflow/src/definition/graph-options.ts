import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TransactionOptions } from '../adapter/transaction.ts'
import type { Duration } from '../duration.ts'
import type { GraphChoice, GraphCondition } from './graph-condition.ts'
import type { GraphEndStep } from './graph-ends.ts'
import type { GraphChild, GraphWait } from './graph-wait.ts'
import type { CompensationContext, StepContext, TransactionContext } from './handler.ts'
import type { OnItemFailure } from './map-options.ts'
import type { PriorityOption } from './priority-option.ts'
import type { RetryOptions } from './retry-policy.ts'
import type { EffectOptions, PivotOptions } from './saga-options.ts'
import type { FailingOptions } from './settled.ts'
import type { StartOptions } from './start-options.ts'
import type { CompensateOn, HeartbeatOptions } from './step-options.ts'
import type { StorableSchema } from './storable.ts'

/** A graph as data: everything but `input` may come from JSON. Its retry options and `timeout` are the defaults of all steps. */
export interface GraphOptions<
  Schema extends StandardSchemaV1,
  StepName extends string = string,
  HandlerName extends string = string,
  Dependent extends string = string,
  Dependency extends string = string,
> extends GraphStepDefaults {
  /** Default 1. */
  readonly version?: number | undefined
  /** Any Standard Schema, or `unchecked<Type>()`. */
  readonly input?: (Schema & StorableSchema<Schema>) | undefined
  /** How long a run may take from its start. A run that takes longer fails with cause `deadline` and is undone. Default: no limit. */
  readonly deadline?: Duration | undefined
  /** The priority of runs that are started without one: whole number from 0 to 1,000. Default 0. */
  readonly priority?: number | undefined
  /** Collects calls of `run()` into fewer runs, as in `define()`. Its `key` names a member of the input, so that it can come from JSON too. */
  readonly start?: StartOptions<StandardSchemaV1.InferOutput<Schema>> | undefined
  /** How many runs may be under way at once, as in `define()`. */
  readonly concurrency?:
    | GraphRunConcurrency<HandlerName>
    | readonly GraphRunConcurrency<HandlerName>[]
    | undefined
  /** How many runs may begin in a time, as in `define()`. */
  readonly rateLimit?: GraphRateLimit<HandlerName> | readonly GraphRateLimit<HandlerName>[] | undefined
  readonly steps: Readonly<
    Record<
      StepName,
      | (GraphStep<HandlerName> & FailingOptions)
      | GraphMap<HandlerName>
      | GraphLoop<HandlerName>
      | GraphFan<HandlerName>
      | GraphChildLoop<HandlerName>
      | GraphWait<HandlerName>
      | GraphChoice<HandlerName>
    >
  >
  /** For each step, the steps it depends on. A step without an entry depends on none. */
  readonly dag: {
    readonly [Step in Dependent]: InSteps<Step, StepName> extends Step
      ? readonly InSteps<Dependency, StepName>[]
      : InSteps<Step, StepName>
  }
  /** End steps: they run after the end of each run, in a follow-up run. */
  readonly ends?: Readonly<Record<string, GraphEndStep<HandlerName>>> | undefined
}

// The compiler prints this type when a name is wrong, so it must read as a sentence. A name of type `string` is checked at run time.
type InSteps<Name extends string, StepName extends string> = string extends Name
  ? Name
  : Name extends StepName
    ? Name
    : `Step "${Name}" is not in steps: add it there, or correct the name.`

export interface GraphAttemptOptions extends RetryOptions {
  /** How long one attempt may take; `false` means no limit. */
  readonly timeout?: Duration | false | undefined
}

export interface GraphStepDefaults extends GraphAttemptOptions {
  readonly lossesMax?: number | undefined
}

/** A rate as data: like that in code, with the name of the function that returns the key. */
export interface GraphRateLimit<HandlerName extends string = string> {
  readonly limit: number
  readonly per: Duration
  readonly burst?: number | undefined
  readonly key?: HandlerName | undefined
  readonly name?: string | undefined
}

/** A limit as data: like that in code, with the name of the function that returns the key. */
export interface GraphConcurrency<HandlerName extends string = string> {
  readonly limit: number
  readonly key?: HandlerName | undefined
  readonly name?: string | undefined
  readonly atLimit?: 'wait' | 'skip' | undefined
}

/** A limit of runs as data. */
export interface GraphRunConcurrency<HandlerName extends string = string>
  extends Omit<GraphConcurrency<HandlerName>, 'atLimit'> {
  readonly atLimit?: 'wait' | 'skip' | 'cancel-older' | 'refuse' | undefined
}

export interface GraphStep<HandlerName extends string = string>
  extends GraphItem<HandlerName>,
    PivotOptions {}

/** What a step and the items of a map have in common. */
export interface GraphItem<HandlerName extends string = string>
  extends GraphStepDefaults,
    HeartbeatOptions,
    EffectOptions,
    PriorityOption,
    GraphCondition<HandlerName> {
  /** The name of the handler that does the work. */
  readonly handler: HandlerName
  /** The name of the handler that undoes the step, alone or with its own options. */
  readonly compensate?: HandlerName | GraphCompensation<HandlerName> | undefined
  readonly compensateOn?: CompensateOn | undefined
  /** Runs the handler in a transaction of the store, which it gets as `tx`. */
  readonly transaction?: boolean | TransactionOptions | undefined
  /** How many attempts of the handler may be under way at once, as in `step()`. */
  readonly concurrency?: GraphConcurrency<HandlerName> | readonly GraphConcurrency<HandlerName>[] | undefined
  /** How many attempts of the handler may begin in a time, as in `step()`. */
  readonly rateLimit?: GraphRateLimit<HandlerName> | readonly GraphRateLimit<HandlerName>[] | undefined
}

/** A step of a graph as data that runs its handler for each item of an array. The other options are those of each item. */
export interface GraphMap<HandlerName extends string = string>
  extends Omit<GraphItem<HandlerName>, 'concurrency'> {
  /** The name of the handler that returns the items. */
  readonly over: HandlerName
  /** The name of a function from an item and its index to its key. Default: the index. */
  readonly itemKey?: HandlerName | undefined
  /** As in `map()`: a number is about the items of this map, an object about those of all runs. Default: no limit but the workers' own. */
  readonly concurrency?:
    | number
    | GraphConcurrency<HandlerName>
    | readonly GraphConcurrency<HandlerName>[]
    | undefined
  /** Default 10,000, at most 65,536. */
  readonly itemsMax?: number | undefined
  /** As in `map()`. Default `stop`. */
  readonly onFailure?: OnItemFailure | undefined
  /** As in `map()`: a number of items, or a text like `90%`. */
  readonly minSuccess?: number | `${number}%` | undefined
  /** Instead of `compensate`: the handler that undoes all items at once. */
  readonly compensateAll?: HandlerName | GraphCompensation<HandlerName> | undefined
}

/** A step of a graph as data that runs a child for each item of an array. Without `input`, each child gets its item. */
export type GraphFan<HandlerName extends string = string> = Omit<GraphChild<HandlerName>, 'key'> &
  Pick<
    GraphMap<HandlerName>,
    'over' | 'itemKey' | 'itemsMax' | 'onFailure' | 'minSuccess' | 'when' | 'onSkipped'
  > & {
    /** How many children may be under way at a time. Default: no limit. */
    readonly concurrency?: number | undefined
  }

/** A step of a graph as data that runs its handler again and again. The other options are those of each round; `max` is the retries' longest delay. */
export interface GraphLoop<HandlerName extends string = string>
  extends Omit<GraphItem<HandlerName>, 'handler'>,
    FailingOptions {
  /** The name of the handler that each round runs. */
  readonly repeat: HandlerName
  /** The name of the function that tells whether a round was the last. */
  readonly until: HandlerName
  /** The name of the handler that returns what the first round gets as `last`. */
  readonly first?: HandlerName | undefined
  /** How many rounds there may be, like `max` in `repeat()`. Default 1,000, at most 65,536. */
  readonly roundsMax?: number | undefined
  /** How long after a round the next one begins. Default: at once. */
  readonly delay?: Duration | undefined
}

/** A step of a graph as data that runs a child in each round. Without `input`, each child gets the parent's input. */
export type GraphChildLoop<HandlerName extends string = string> = Omit<GraphChild<HandlerName>, 'key'> &
  Pick<GraphLoop<HandlerName>, 'until' | 'first' | 'roundsMax' | 'delay' | 'onFailure' | 'when' | 'onSkipped'>

export interface GraphCompensation<HandlerName extends string = string>
  extends GraphAttemptOptions,
    HeartbeatOptions {
  readonly handler: HandlerName
  readonly transaction?: boolean | TransactionOptions | undefined
}

/** Handlers of steps and compensations, by the names that the graph uses. Extra handlers are allowed. */
export type GraphHandlers<Input, Used extends string = never> = Readonly<
  Record<string, GraphHandler<Input>> & Record<Used, GraphHandler<Input>>
>

// A method type is bivariant, so a handler may declare the types of `deps` and `output`, which data does not have.
type GraphHandler<Input> = { handle(context: GraphHandlerContext<Input>): unknown }['handle']

/** What a handler of a graph as data is given: `tx` only in a transaction, the fields of the undo only in a compensation. */
export interface GraphHandlerContext<Input>
  extends StepContext<Input>,
    Partial<TransactionContext>,
    Partial<UndoFields> {}

type UndoFields = Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'>
