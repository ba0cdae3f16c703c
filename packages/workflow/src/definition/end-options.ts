import type { EndStatus } from '../adapter/lifecycle.ts'
import type { RunCause, SerialisedError } from '../cause.ts'
import type { NoCases, OnSkipped, ReadOutput } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { OnFailure } from './settled.ts'
import type {
  Dependencies,
  DepsOf,
  NewName,
  OutputsWith,
  StepDefaults,
  WorkedOutput,
} from './step-options.ts'
import type { StorableOutput } from './storable.ts'
import type { ContextOf, TransactionOption } from './transaction.ts'
import type { TypedDefinition } from './typed-definition.ts'

/** The ends after which an end step runs. */
export type EndKind = 'completed' | 'failed' | 'compensated' | 'finally'

/** The statuses of an ended run, for each kind of end step. */
interface StatusesOf {
  readonly completed: 'completed'
  readonly failed: 'failed' | 'compensated'
  readonly compensated: 'compensated' | 'cancelled'
  readonly finally: EndStatus
}

/** What became of one step in the undo of a run. See `UndoReport`. */
export interface EndedUndo {
  readonly step: string
  readonly result:
    | 'compensated'
    | 'skipped'
    | 'compensation_failed'
    | 'waiting'
    | 'unknown'
    | 'succeeded'
    | 'irreversible'
    | 'kept'
  readonly error?: SerialisedError | undefined
}

/** The run that ended, as the handlers of its end steps get it. */
export interface EndedRun<Input = unknown, Outputs = Readonly<Record<string, unknown>>, Status = EndStatus> {
  /** The id of the run that ended, not of the follow-up in which the handler runs. */
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly key: string | undefined
  readonly tags: readonly string[]
  readonly status: Status
  readonly input: Input
  /**
   * The outputs of the steps that completed, also of those that were undone since. Empty if they are larger together than `payloadMaxBytes`: then
   * read the run with `engine.runs.get(runId)`.
   */
  readonly outputs: { readonly [Step in keyof Outputs]?: ReadOutput<Outputs[Step], 'run'> }
  /** Why the run stopped; undefined if it completed, or was sent forward again meanwhile. */
  readonly cause: RunCause | undefined
  /** What was undone, and what could not be; empty if nothing had to be. */
  readonly undo: readonly EndedUndo[]
}

/** What the handler of an end step is given. */
export type EndContext<Input, Outputs, Deps, Status> = Omit<StepContext<Input, Deps>, 'runId' | 'input'> &
  EndedRun<Input, Outputs, Status>

/** What `.onCompleted()`, `.onFailed()`, `.onCompensated()` and `.finally()` take. `Ends` are the outputs of the end steps defined before. */
export interface EndStepOptions<
  Kind extends EndKind,
  Input,
  Outputs,
  Ends,
  Deps extends readonly string[],
  Output,
  Transaction extends TransactionOption | undefined,
  Skipping extends OnSkipped,
  Fails extends OnFailure = OnFailure,
> extends StepDefaults {
  /** Names of earlier end steps that must complete first. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Ends> | undefined
  /** What happens when one of these was skipped, because its end did not come. `skip`, the default: this step is skipped too. */
  readonly onSkipped?: Skipping | undefined
  /**
   * What happens if this step fails for good. `stop`, the default: the follow-up fails, and end steps that have not begun are cancelled. `continue`:
   * the others run, and those that depend on this one get `{ status: 'completed', output }` or `{ status: 'failed', error }`.
   */
  readonly onFailure?: Fails | undefined
  readonly run: (
    context: EndContext<Input, Outputs, DepsOf<Ends, Deps, Skipping>, StatusesOf[Kind]> &
      ContextOf<Transaction>,
  ) => Output & StorableOutput<Output>
  /** Runs the handler in a transaction of the store, which it gets as `tx`. */
  readonly transaction?: Transaction | undefined
}

type EndOutput<
  Kind,
  Output,
  Ends,
  Deps extends readonly string[],
  Skipping,
  Fails extends OnFailure,
> = WorkedOutput<Output, Fails, Ends, Deps, Skipping, Kind extends 'finally' ? never : boolean, NoCases>

/**
 * Adds an end step.
 *
 * @throws DefinitionError like `step()`.
 */
type AddEndStep<Kind extends EndKind, Name extends string, Input, Outputs, Received, Sent, Ends> = <
  const StepName extends string,
  const Deps extends readonly string[] | readonly [] = readonly [],
  Output = unknown,
  Transaction extends TransactionOption | undefined = undefined,
  Skipping extends OnSkipped = 'skip',
  Fails extends OnFailure = 'stop',
>(
  name: NewName<StepName, Ends>,
  options: EndStepOptions<Kind, Received, Outputs, Ends, Deps, Output, Transaction, Skipping, Fails>,
) => WorkflowWithEnds<
  Name,
  Input,
  Outputs,
  Received,
  Sent,
  OutputsWith<Ends, StepName, EndOutput<Kind, Output, Ends, Deps, Skipping, Fails>>
>

/**
 * The end steps of a workflow. They run once a run has ended, in a follow-up run: the status and the result of the ended run do not wait for them.
 * Each method throws a `DefinitionError` like `step()`.
 */
export interface EndSteps<Name extends string, Input, Outputs, Received, Sent, Ends> {
  /** Adds a step that runs after each run that completed. */
  readonly onCompleted: AddEndStep<'completed', Name, Input, Outputs, Received, Sent, Ends>

  /** Adds a step that runs after each run that failed or missed its deadline, once what it had done was undone. Not after a cancellation. */
  readonly onFailed: AddEndStep<'failed', Name, Input, Outputs, Received, Sent, Ends>

  /** Adds a step that runs after each run of which something was undone, because it failed or was cancelled. */
  readonly onCompensated: AddEndStep<'compensated', Name, Input, Outputs, Received, Sent, Ends>

  /** Adds a step that runs after each run, however it ended. */
  readonly finally: AddEndStep<'finally', Name, Input, Outputs, Received, Sent, Ends>
}

/** A definition with end steps. They come last: more of them can be added, but no other steps. */
export interface WorkflowWithEnds<Name extends string, Input, Outputs, Received, Sent, Ends>
  extends TypedDefinition<Name, Input, Outputs, Sent>,
    EndSteps<Name, Input, Outputs, Received, Sent, Ends> {}
