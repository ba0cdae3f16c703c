import type { Duration } from '../duration.ts'
import type {
  Answer,
  Branched,
  Cases,
  ChosenDeps,
  ConditionOptions,
  Failing,
  NoCases,
  OnSkipped,
  ReadOutput,
} from './condition-options.ts'
import type { CompensationContext, StepContext } from './handler.ts'
import type { StepLimitOptions } from './limit-options.ts'
import type { PriorityOption } from './priority-option.ts'
import type { RetryOptions } from './retry-policy.ts'
import type { EffectOptions, PivotOptions } from './saga-options.ts'
import type { FailingOptions, OnFailure } from './settled.ts'
import type { StorableOutput } from './storable.ts'
import type { Stored } from './stored.ts'
import type { ContextOf, TransactionOption } from './transaction.ts'

/** Limits and retries of attempts, for a workflow, a step or a compensation. Missing options are inherited. */
export interface AttemptOptions {
  /**
   * `false` means a single attempt. Default: 3 retries, after 1 s, 2 s and 4 s, with jitter. A compensation inherits the workflow's `retry`, not
   * its step's. It never inherits `false`: set that on the compensation itself.
   */
  readonly retry?: RetryOptions | false | undefined
  /**
   * How long one attempt may take; `false`, the default, means no limit. At the limit the handler's `signal` fires. The handler then has the same
   * time again to stop, at most 5 s, and a result within it still counts. After that the attempt fails with `step_timeout`. What it did is unknown:
   * `compensateOn` decides whether it is undone, and the undo report names it.
   */
  readonly timeout?: Duration | false | undefined
}

/** What a handler that sends heartbeats may be given. */
export interface HeartbeatOptions {
  /**
   * How long the handler may go without calling `heartbeat()`, counted from its begin. After that its `signal` fires, and the attempt fails with
   * `heartbeat_timeout`; it has the same time again to stop, at most 5 s, as after a `timeout`. Default: no limit.
   */
  readonly heartbeatTimeout?: Duration | undefined
}

/** Attempt options of a step, or of all steps of a workflow. */
export interface StepDefaults extends AttemptOptions {
  /** A step that has lost its worker this many times fails permanently. Default 5. */
  readonly lossesMax?: number | undefined
}

/** When a step is undone: only if it completed, or also if it was only started. */
export type CompensateOn = 'completed' | 'started'

/** What `.step()` takes. `Outputs` are the outputs of the steps defined before. */
export interface StepOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
  UndoTransaction extends TransactionOption | undefined = undefined,
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
  Failing extends OnFailure = OnFailure,
> extends StepDefaults,
    HeartbeatOptions,
    EffectOptions,
    PriorityOption,
    PivotOptions,
    FailingOptions<Failing>,
    StepLimitOptions<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>,
    ConditionOptions<Input, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> {
  /** Names of the steps that must complete first. The handler gets their outputs as `deps`. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  /**
   * The handler. Its return value is stored as JSON. If it has no JSON form, the step fails although it took effect: it is undone like a completed
   * step, but without an `output`, and the compensation's `error` says why.
   */
  readonly run: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>> & ContextOf<Transaction>,
  ) => Output & StorableOutput<Output>
  /**
   * Runs the handler in a transaction of the store, which it gets as `tx`: its writes commit with the step's outcome, exactly once. Give `true`, `{
   * isolation }`, or the adapter's typed form, like `postgresTransaction()`.
   */
  readonly transaction?: Transaction | undefined
  /** Undoes the step when the run fails or is cancelled. Defaults: the step's timeout and the workflow's retries. */
  readonly compensate?:
    | Compensate<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, StepOutput<Output>, On>
    | CompensateOptions<
        Input,
        DepsWith<Outputs, Deps, Skipping, Wanted>,
        StepOutput<Output>,
        On,
        UndoTransaction
      >
    | undefined
  /** Default `completed`. With `started`, a step that failed, timed out or lost its worker is also undone, without an output. */
  readonly compensateOn?: On | undefined
}

export interface CompensateOptions<
  Input,
  Deps,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
> extends AttemptOptions,
    HeartbeatOptions {
  readonly run: Compensate<Input, Deps, Output, On, Transaction>
  /** Like `transaction` of a step: the compensation's writes commit with its outcome. */
  readonly transaction?: Transaction | undefined
}

type Compensate<Input, Deps, Output, On extends CompensateOn, Transaction = undefined> = (
  context: UndoContext<Input, Deps, Output, On> & ContextOf<Transaction>,
) => unknown

/**
 * What a compensation is given. With `compensateOn: 'started'`, `undoOf` says whether there is an output. Otherwise there is one, unless it could
 * not be stored: then `output` is undefined, and `error` says why.
 */
export type UndoContext<Input, Deps, Output, On extends CompensateOn> = On extends 'started'
  ? UndoOfCompleted<Input, Deps, Output> | UndoOfUnfinished<Input, Deps>
  : UndoOfSucceeded<Input, Deps, Output>

/** The step took effect. */
export interface UndoOfSucceeded<Input, Deps, Output> extends CompensationContext<Input, Deps, Output> {
  /** `completed`, unless the step's output could not be stored. */
  readonly undoOf: 'completed' | 'failed' | 'cancelled'
  /**
   * The step's output. It is undefined, against its type, if the step's output could not be stored; `error` is set then. A compensation that can
   * work from its `input` or the step's idempotency key checks `error` first.
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

/** A handler's return value as dependents and compensations get it. */
export type StepOutput<Output> = Stored<Awaited<Output>>

/** The same as the outputs of its workflow carry it: marked, if the step may fail or may be skipped. */
export type WorkedOutput<
  Output,
  Fails extends OnFailure,
  Outputs,
  Deps extends readonly string[],
  Skipping,
  Given,
  Wanted,
> = Branched<Failing<StepOutput<Output>, Fails>, Outputs, Deps, Skipping, Given, Wanted>

/**
 * The outputs of the named steps. If `Deps` is a union, the output of a step that only some of its lists name may be missing. Not the alias of an
 * object type: the compiler would print all outputs where a handler reads a step that it does not name.
 */
export type DepsOf<Outputs, Deps extends readonly string[], Skipping = 'skip'> = [Deps[number]] extends [
  InAll<Deps>,
]
  ? {
      readonly [Name in Deps[number] & keyof Outputs]: ReadOutput<Outputs[Name], Skipping>
    } & OnlyStepsNamedInDependsOn
  : {
      readonly [Name in InAll<Deps> & keyof Outputs]: ReadOutput<Outputs[Name], Skipping>
    } & {
      readonly [Name in Exclude<Deps[number], InAll<Deps>> & keyof Outputs]?: ReadOutput<
        Outputs[Name],
        Skipping
      >
    } & OnlyStepsNamedInDependsOn

/** The compiler prints this name where a handler reads another step's output: it says where to declare the step. */
// biome-ignore lint/suspicious/noEmptyInterface: only an interface keeps its name, and a member would be one of deps.
export interface OnlyStepsNamedInDependsOn {}

/** The same, with the choices that the step's `when` names. */
export type DepsWith<Outputs, Deps extends readonly string[], Skipping, Wanted> = [keyof Wanted] extends [
  never,
]
  ? DepsOf<Outputs, Deps, Skipping>
  : DepsOf<Outputs, Deps, Skipping> & ChosenDeps<Outputs, Wanted>

/** The names that every list of a union has. */
type InAll<Deps extends readonly string[]> = Exclude<Deps[number], MissingIn<Deps, Deps[number]>>

type MissingIn<Deps extends readonly string[], All> = Deps extends unknown
  ? Exclude<All, Deps[number]>
  : never

/** The given names; a sentence in place of each name that is wrong. */
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
 * The outputs with one more step's. Outputs with index type `string` stay as they are: such steps are added in a loop. An intersection, because
 * nested mapped types become too deep for the compiler at about 90 steps. `Record` without `Readonly`: the compiler instantiates every part of it
 * again for each further step, and the readers of outputs add `readonly`. With a mapped type written out here, TypeScript 5 gives up at 20 steps.
 */
export type OutputsWith<Outputs, Name extends string, Output> = string extends keyof Outputs
  ? Outputs
  : Outputs & Record<Name, Output>

// The compiler prints the two types below when a name is wrong, so they must read as sentences.

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
