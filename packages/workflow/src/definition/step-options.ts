import type { Duration } from '../duration.ts'
import type { CompensationContext, StepContext } from './handler.ts'
import type { RetryOptions } from './retry-policy.ts'
import type { StorableOutput } from './storable.ts'
import type { Stored } from './stored.ts'
import type { ContextOf, TransactionOption } from './transaction.ts'

/** How attempts are made, for a whole workflow, one step or one compensation. What is left out is inherited. */
export interface AttemptOptions {
  /**
   * `false` for a single attempt. Default: 3 retries, after 1 s, 2 s and 4 s, with jitter. A compensation inherits the workflow's, not its
   * step's, and neither's single attempt: that must be said of the compensation itself.
   */
  readonly retry?: RetryOptions | false | undefined
  /**
   * How long one attempt may take; `false` for as long as it likes, which is the default. Then the handler's `signal` fires, and it has as
   * long again to stop, but 5 s at most: a result in that time still counts. After that the attempt has failed with `step_timeout`, and
   * what it did is unknown: `compensateOn` decides whether it is undone, and the undo report names it.
   */
  readonly timeout?: Duration | false | undefined
}

/** Attempt options of a step, or of all steps of a workflow. */
export interface StepDefaults extends AttemptOptions {
  /** How many workers may be lost in a step before it fails for good. Default 5. */
  readonly lossesMax?: number | undefined
}

/** When a step is undone: only when it is known to have completed, or also when it has only been started. */
export type CompensateOn = 'completed' | 'started'

/** What `.step()` takes. `Outputs` are those of the steps before it. */
export interface StepOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
  UndoTransaction extends TransactionOption | undefined = undefined,
> extends StepDefaults {
  /** Names of the steps that must have completed before; their outputs come as `deps`. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  /**
   * The work. What it returns is stored as JSON. When that cannot be done, the step has failed although it took effect: it is undone like a
   * completed one, without an `output`, and the compensation's `error` says why.
   */
  readonly run: (
    context: StepContext<Input, DepsOf<Outputs, Deps>> & ContextOf<Transaction>,
  ) => Output & StorableOutput<Output>
  /**
   * Runs the handler in a transaction of the store, which it finds as `tx`: its writes commit with the step's settlement, exactly once.
   * `true`, an isolation, or the adapter's typed form, like `postgresTransaction()`.
   */
  readonly transaction?: Transaction | undefined
  /** Undoes the work when the run fails or is cancelled. It has its step's timeout and its workflow's retries, unless it says otherwise. */
  readonly compensate?:
    | Compensate<Input, DepsOf<Outputs, Deps>, StepOutput<Output>, On>
    | CompensateOptions<Input, DepsOf<Outputs, Deps>, StepOutput<Output>, On, UndoTransaction>
    | undefined
  /** Default `completed`. With `started`, a step that failed, timed out or lost its worker is undone too, without an output. */
  readonly compensateOn?: On | undefined
}

export interface CompensateOptions<
  Input,
  Deps,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
> extends AttemptOptions {
  readonly run: Compensate<Input, Deps, Output, On, Transaction>
  /** As `transaction` of a step: the compensation's writes commit with its settlement. */
  readonly transaction?: Transaction | undefined
}

type Compensate<Input, Deps, Output, On extends CompensateOn, Transaction = undefined> = (
  context: UndoContext<Input, Deps, Output, On> & ContextOf<Transaction>,
) => unknown

/**
 * What a compensation is given: with `compensateOn: 'started'`, look at `undoOf` to learn whether there is an output. Without it there is one,
 * unless the step's output could not be stored: then `output` is undefined, and `error` says why.
 */
export type UndoContext<Input, Deps, Output, On extends CompensateOn> = On extends 'started'
  ? UndoOfCompleted<Input, Deps, Output> | UndoOfUnfinished<Input, Deps>
  : UndoOfSucceeded<Input, Deps, Output>

/** The step took effect. */
export interface UndoOfSucceeded<Input, Deps, Output> extends CompensationContext<Input, Deps, Output> {
  /** `completed`, unless the step's output could not be stored. */
  readonly undoOf: 'completed' | 'failed' | 'cancelled'
  /**
   * The step's output. Typed as if it were always there: of a step whose output could not be stored it is undefined, and `error` is set.
   * A compensation that can do without, by its `input` or its step's idempotency key, asks for `error` first.
   */
  readonly output: Output
}

export interface UndoOfCompleted<Input, Deps, Output> extends CompensationContext<Input, Deps, Output> {
  readonly undoOf: 'completed'
  readonly error: undefined
}

export interface UndoOfUnfinished<Input, Deps> extends CompensationContext<Input, Deps, undefined> {
  readonly undoOf: 'failed' | 'cancelled'
}

/** What dependents and compensations get of what a handler returns. */
export type StepOutput<Output> = Stored<Awaited<Output>>

/** The outputs of the named steps. Of a step that only some of several lists name, the output may be missing. */
export type DepsOf<Outputs, Deps extends readonly string[]> = {
  readonly [Name in InAll<Deps> & keyof Outputs]: Outputs[Name]
} & ([Deps[number]] extends [InAll<Deps>]
  ? unknown
  : {
      readonly [Name in Exclude<Deps[number], InAll<Deps>> & keyof Outputs]?: Outputs[Name]
    })

/** The names that every list of a union has. */
type InAll<Deps extends readonly string[]> = Exclude<Deps[number], MissingIn<Deps, Deps[number]>>

type MissingIn<Deps extends readonly string[], All> = Deps extends unknown
  ? Exclude<All, Deps[number]>
  : never

/** The names as they are given when all are good; else what is wrong with each. */
export type Dependencies<Deps extends readonly string[], Outputs> =
  Deps extends CheckedNames<Deps, Outputs> ? Deps : CheckedNames<Deps, Outputs>

type CheckedNames<Deps extends readonly string[], Outputs> = {
  readonly [Index in keyof Deps]: Deps[Index] extends Doubled<Deps>
    ? `Step "${Deps[Index]}" is named twice: name each dependency once.`
    : DefinedBefore<Deps[Index], Outputs>
}

type Doubled<Names extends readonly string[], Found = never> = Names extends readonly [
  infer First,
  ...infer Rest extends readonly string[],
]
  ? Doubled<Rest, First extends Rest[number] ? Found | First : Found>
  : Found

/**
 * The outputs with those of one more step. Outputs by any name stay what they are: then steps are added in a loop.
 * An intersection, because a mapped type of a mapped type of … is too deep for the compiler from about 90 steps on.
 */
export type OutputsWith<Outputs, Name extends string, Output> = string extends keyof Outputs
  ? Outputs
  : Outputs & Readonly<Record<Name, Output>>

// The two types below are what the compiler prints when a name is wrong: they must read as sentences.

export type DefinedBefore<Name, Outputs> = Name extends keyof Outputs
  ? Name
  : Name extends string
    ? `Step "${Name}" is not defined before this step: define it first, or correct the name.`
    : never

export type NewName<Name extends string, Outputs> = Name extends keyof Outputs
  ? string extends keyof Outputs
    ? Name
    : `Step "${Name}" is defined already: give one of them another name.`
  : Name
