import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TransactionOptions } from '../adapter/transaction.ts'
import type { Duration } from '../duration.ts'
import type { GraphWait } from './graph-wait.ts'
import type { CompensationContext, StepContext, TransactionContext } from './handler.ts'
import type { RetryOptions } from './retry-policy.ts'
import type { CompensateOn } from './step-options.ts'
import type { StorableSchema } from './storable.ts'

/** A graph as data: everything but `input` may come from JSON. Retry options and timeouts given here hold for every step. */
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
  /** How long a run may take from its start; then it fails with that as its cause, and is undone. Default: as long as it likes. */
  readonly deadline?: Duration | undefined
  readonly steps: Readonly<Record<StepName, GraphStep<HandlerName> | GraphWait<HandlerName>>>
  /** For each step the steps it depends on. A step left out depends on none. */
  readonly dag: {
    readonly [Step in Dependent]: InSteps<Step, StepName> extends Step
      ? readonly InSteps<Dependency, StepName>[]
      : InSteps<Step, StepName>
  }
}

// What the compiler prints when a name is wrong: it must read as a sentence. A name that it doesn't know is checked at run time.
type InSteps<Name extends string, StepName extends string> = string extends Name
  ? Name
  : Name extends StepName
    ? Name
    : `Step "${Name}" is not in steps: add it there, or correct the name.`

export interface GraphAttemptOptions extends RetryOptions {
  /** How long one attempt may take; `false` for no limit. */
  readonly timeout?: Duration | false | undefined
}

export interface GraphStepDefaults extends GraphAttemptOptions {
  readonly lossesMax?: number | undefined
}

export interface GraphStep<HandlerName extends string = string> extends GraphStepDefaults {
  /** The name of the handler that does the work. */
  readonly handler: HandlerName
  /** The name of the handler that undoes it, alone or with options of its own. */
  readonly compensate?: HandlerName | GraphCompensation<HandlerName> | undefined
  readonly compensateOn?: CompensateOn | undefined
  /** Runs the handler in a transaction of the store, which it finds as `tx`. */
  readonly transaction?: boolean | TransactionOptions | undefined
}

export interface GraphCompensation<HandlerName extends string = string> extends GraphAttemptOptions {
  readonly handler: HandlerName
  readonly transaction?: boolean | TransactionOptions | undefined
}

/** Handlers by the names that a graph as data uses, for steps and compensations alike. More than it uses may be there. */
export type GraphHandlers<Input, Used extends string = never> = Readonly<
  Record<string, GraphHandler<Input>> & Record<Used, GraphHandler<Input>>
>

// Written as a method, which lets a handler declare `deps` and `output` as what it knows them to be: data has no types of its own.
type GraphHandler<Input> = { handle(context: GraphHandlerContext<Input>): unknown }['handle']

/** What a handler of a graph as data is given: `tx` in a transaction, and what is undone only when it compensates. */
export interface GraphHandlerContext<Input>
  extends StepContext<Input>,
    Partial<TransactionContext>,
    Partial<UndoFields> {}

type UndoFields = Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'>
