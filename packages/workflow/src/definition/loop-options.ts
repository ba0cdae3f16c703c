import type { Duration } from '../duration.ts'
import type { Answer, Cases, ConditionOptions, NoCases, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { StepLimitOptions } from './limit-options.ts'
import type { EffectOptions } from './saga-options.ts'
import type { FailingOptions, OnFailure } from './settled.ts'
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

/** What the handler and the compensation of a round are given in addition. */
export interface RoundContext<Last = unknown> {
  /** From 1. */
  readonly round: number
  /** The output of the round before. In the first round what `first` returned; undefined without it. */
  readonly last: Last
}

/** A round that has ended, as `until` and `delay` see it. */
export interface EndedRoundContext<Input, Deps, Output> {
  /** What the handler returned. */
  readonly output: Awaited<Output>
  readonly round: number
  readonly input: Input
  readonly deps: Deps
}

/** What `.repeat()` takes. `Outputs` are the outputs of the steps defined before. `retry`, `timeout`, `heartbeatTimeout` and `lossesMax` hold for each round. */
export interface RepeatOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Last,
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
    FailingOptions<Failing>,
    StepLimitOptions<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>,
    ConditionOptions<Input, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted> {
  /** Names of the steps that must complete first. `first` and the handlers get their outputs as `deps`. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
  /**
   * Returns what the first round gets as `last`: its type is the type of `last`, and each round must return the same. It is called once, or again
   * after it failed. Write it before `run`. Without it, `last` is of type `unknown`, and undefined in the first round.
   */
  readonly first?:
    | ((context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>) => Last | Promise<Last>)
    | undefined
  /** The handler of each round. The loop's output is what the last round returns. */
  readonly run: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>> &
      RoundContext<Stored<Last>> &
      ContextOf<Transaction>,
  ) => Output & StorableOutput<Output> & Continues<Output, Last>
  /**
   * Tells, after each round, whether it was the last. It must not have effects. If it throws, the round fails for good, because its effect is
   * there: its output is lost, and it is undone.
   */
  readonly until: (
    context: EndedRoundContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Output>,
  ) => boolean | Promise<boolean>
  /** If so many rounds were not enough, the last one fails for good with code `rounds_exhausted`. Default 1,000, at most 65,536. */
  readonly max?: number | undefined
  /** How long after a round the next one begins. No worker is held meanwhile. A function is called after each round but the last. Default: at once. */
  readonly delay?:
    | Duration
    | ((
        context: EndedRoundContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Output>,
      ) => Duration | Promise<Duration>)
    | undefined
  /** Runs each round's handler in a transaction of its own, as for `.step()`. `until` and `delay` are called before its commit. */
  readonly transaction?: Transaction | undefined
  /** Undoes a round when the run fails or is cancelled. The last round is undone first. */
  readonly compensate?:
    | CompensateRound<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, Last, Output, On>
    | CompensateRoundOptions<
        Input,
        DepsWith<Outputs, Deps, Skipping, Wanted>,
        Last,
        Output,
        On,
        UndoTransaction
      >
    | undefined
  /** As for `.step()`, for each round. */
  readonly compensateOn?: On | undefined
}

/** The compiler prints the sentence if a round returns what the next one cannot take as `last`. */
type Continues<Output, Last> = [Awaited<Output>] extends [Last]
  ? unknown
  : 'A round must return what `first` returns: the next round gets it as `last`.'

interface CompensateRoundOptions<
  Input,
  Deps,
  Last,
  Output,
  On extends CompensateOn,
  Transaction extends TransactionOption | undefined = undefined,
> extends AttemptOptions,
    HeartbeatOptions {
  readonly run: CompensateRound<Input, Deps, Last, Output, On, Transaction>
  readonly transaction?: Transaction | undefined
}

type CompensateRound<Input, Deps, Last, Output, On extends CompensateOn, Transaction = undefined> = (
  context: UndoContext<Input, Deps, StepOutput<Output>, On> &
    RoundContext<Stored<Last>> &
    ContextOf<Transaction>,
) => unknown
