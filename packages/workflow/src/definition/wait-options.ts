import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../duration.ts'
import type { Instant } from '../instant.ts'
import type { Answer, Cases, ConditionOptions, NoCases, OnSkipped } from './condition-options.ts'
import type { StepContext } from './handler.ts'
import type { FailingOptions, OnFailure } from './settled.ts'
import type { Dependencies, DepsOf, DepsWith, StepDefaults, StepOutput } from './step-options.ts'
import type { StorableOutput, StorableSchema } from './storable.ts'
import type { Stored } from './stored.ts'

interface WaitOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
  Failing extends OnFailure,
> extends ConditionOptions<Input, Outputs, DepsOf<Outputs, Deps, Skipping>, Skipping, Given, Wanted>,
    FailingOptions<Failing> {
  /** Names of the steps that must complete before the wait begins. Default: none. */
  readonly dependsOn?: Dependencies<Deps, Outputs> | undefined
}

/** What `.sleep()` takes: either `for` or `until`. A function is called when the sleep begins. */
export type SleepOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
  Failing extends OnFailure = OnFailure,
> = WaitOptions<Input, Outputs, Deps, Skipping, Given, Wanted, Failing> &
  (
    | {
        readonly for: SleepLength<Duration, Input, DepsWith<Outputs, Deps, Skipping, Wanted>>
        readonly until?: undefined
      }
    /** If the instant has passed, the sleep ends at once. */
    | {
        readonly until: SleepLength<Instant, Input, DepsWith<Outputs, Deps, Skipping, Wanted>>
        readonly for?: undefined
      }
  )

type SleepLength<Length, Input, Deps> =
  | Length
  | ((context: StepContext<Input, Deps>) => Length | Promise<Length>)

/** How long a step waits and what a timeout does. `onTimeout` needs a `timeout`. */
type SignalTimeout<Input, Deps, StandIn> =
  | {
      /** How long the step waits once its dependencies have completed. Default: no limit. */
      readonly timeout?: Duration | undefined
      readonly onTimeout?: undefined
    }
  | {
      readonly timeout: Duration
      /**
       * What a timeout does. `'fail'`, the default: the step fails permanently, and the run is undone. Otherwise the step completes with a
       * stand-in: a value, or a function that returns one.
       */
      readonly onTimeout?:
        | 'fail'
        | { readonly output: StandIn }
        | ((context: StepContext<Input, Deps>) => StandIn)
        | undefined
    }

/** What `.waitForSignal()` takes. */
export type WaitForSignalOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Schema extends StandardSchemaV1,
  StandIn,
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
  Failing extends OnFailure = OnFailure,
> = WaitOptions<Input, Outputs, Deps, Skipping, Given, Wanted, Failing> & {
  /** Any Standard Schema, or `unchecked<Type>()`: checks a signal's payload before it is recorded. Default: any JSON value. */
  readonly schema?: (Schema & StorableSchema<Schema>) | undefined
} & SignalTimeout<Input, DepsWith<Outputs, Deps, Skipping, Wanted>, StandIn>

/** What `.approval()` takes. The schema checks the payload of an approval. */
export type ApprovalOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Schema extends StandardSchemaV1,
  StandIn,
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
  Failing extends OnFailure = OnFailure,
> = WaitForSignalOptions<Input, Outputs, Deps, Schema, StandIn, Skipping, Given, Wanted, Failing>

/** What `.poll()` takes. `retry` is for checks that throw. Each check that returns, even "not yet", resets the count of failures. */
export interface PollOptions<
  Input,
  Outputs,
  Deps extends readonly string[],
  Output,
  Skipping extends OnSkipped = 'skip',
  Given extends Answer = Answer,
  Wanted extends Cases = NoCases,
  Failing extends OnFailure = OnFailure,
> extends WaitOptions<Input, Outputs, Deps, Skipping, Given, Wanted, Failing>,
    Pick<StepDefaults, 'retry' | 'lossesMax'> {
  /** The time between two checks. */
  readonly every: Duration
  /** The check. `undefined`, `null` and `false` mean "not yet". Anything else is the step's output, also `0` and `''`. */
  readonly until: (
    context: StepContext<Input, DepsWith<Outputs, Deps, Skipping, Wanted>>,
  ) => Output & StorableOutput<Output>
  /** How long to poll, counted from the first "not yet". At the end there is one last check. Default: no limit. */
  readonly timeout?: Duration | undefined
}

/** The output of a step that waits for a signal: its payload as the schema gives it, or the stand-in. */
export type SignalOutput<Payload, StandIn> = Stored<Payload> | StepOutput<StandIn>

/** The output of an approval. A rejection fails the step instead. */
export type Approval<Payload = unknown> = {
  readonly approved: true
  /** Who decided. */
  readonly by: string
  /** When, as an ISO 8601 string, by the store's clock. */
  readonly at: string
  readonly comment?: string
} & (unknown extends Payload ? { readonly payload?: unknown } : { readonly payload: Payload })

export type ApprovalOutput<Payload, StandIn> = Approval<Stored<Payload>> | StepOutput<StandIn>

// `void` is the type of a check without a return statement; to the compiler it differs from `undefined`.
// biome-ignore lint/suspicious/noConfusingVoidType: see above
type NotYet = undefined | null | false | void

/** The output of a poll: the first answer that is not "not yet". */
export type PollOutput<Output> = StepOutput<Exclude<Awaited<Output>, NotYet>>

/** What runs of a definition can be sent: payloads of signals and of approvals, by the step's name. */
export interface Receives {
  readonly signals: object
  readonly approvals: object
}

/** For a definition without signals and approvals. */
export interface ReceivesNothing {
  readonly signals: Readonly<Record<never, never>>
  readonly approvals: Readonly<Record<never, never>>
}

/** For a run found by its id, or a graph as data: names are checked when a signal is sent. */
export interface ReceivesAnything {
  readonly signals: Readonly<Record<string, unknown>>
  readonly approvals: Readonly<Record<string, unknown>>
}

export type ReceivesSignal<All, Name extends string, Payload> = All & {
  readonly signals: Readonly<Record<Name, Payload>>
}

export type ReceivesApproval<All, Name extends string, Payload> = All & {
  readonly approvals: Readonly<Record<Name, Payload>>
}
