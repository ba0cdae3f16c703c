import type { Adapter } from '../../adapter/index.ts'
import type { Receives, ReceivesAnything } from '../../definition/index.ts'
import { BelayError } from '../../errors.ts'
import { checkOptions } from '../../options/index.ts'
import type { Action } from '../control/action.ts'
import type { CancelOptions, Control } from '../control/control.ts'
import type { RunHistoryEntry } from '../control/history.ts'
import {
  type ActionOptions,
  actorOf,
  checkActionOptions,
  checkStepArgument,
  WITHIN_ACTION_OPTIONS,
  type WithinActionOptions,
} from '../control/options.ts'
import type { Explanation } from '../diagnosis/explain/explanation.ts'
import { checkResultOptions, type ResultOptions } from '../runs/result-options.ts'
import { RunFailedError } from '../runs/run-failed-error.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { type RunSnapshot, runSnapshot } from '../runs/run-snapshot.ts'
import type { RunWatch } from '../runs/run-watch.ts'
import type {
  ApproveOptions,
  RejectOptions,
  SignalOptions,
  SignalReceipt,
  Signals,
} from '../signals/signals.ts'

/** A run that was started or found. Holds nothing open: keep it or drop it. */
export interface RunHandle<Outputs = Readonly<Record<string, unknown>>, Sent = ReceivesAnything> {
  readonly id: string
  /** Carries types only: there is no such property at run time. */
  readonly '~types'?: { readonly outputs: Outputs; readonly receives: Sent } | undefined
  /** False when `key` belonged to an earlier run, which this handle stands for. */
  readonly created: boolean
  /**
   * The version that the run was started with: an earlier one than was asked for, perhaps, when `key` belonged to an earlier run. Undefined
   * of a handle that was made from an id or a key.
   */
  readonly version?: number | undefined
  /**
   * Waits for the end of the run, however long that takes or up to `timeout`, and gives every step's output by name.
   *
   * @throws RunFailedError when it failed or was cancelled, once its undo has come to an end; BelayError `result_timeout` or `result_aborted`
   * when the wait ends before the run, which goes on; `unknown_run`, `engine_closed`, `invalid_option`;
   * `other_version` at once when the run was found by its key and follows another version than the definition that types this handle.
   */
  result(options?: ResultOptions): Promise<Outputs>
  /** The run and its steps as they stand now. */
  status(): Promise<RunSnapshot>
  /**
   * Stops the run: in-flight handlers are signalled and awaited, then everything is undone, unless `compensate` is false, and the run ends as
   * `cancelled`. A paused run is paused no more. Resolves once that is recorded, to whether this call stopped it: false when it was over or
   * stopping already. An undo that is under way goes on.
   *
   * @param options.tx makes it part of a transaction of the caller's: the run is stopped when that commits.
   * @throws BelayError `action_refused` for `compensate: false` when the run is being undone already: pause() stops an undo.
   */
  cancel(options?: CancelOptions): Promise<boolean>
  /**
   * Lets handlers in flight end, and begins nothing more until `resume()`: no step and no compensation. Timers and deadlines go on, signals
   * are kept. A run that fails meanwhile, or whose deadline passes, stays paused. Resolves to whether this call paused it: false when it was
   * paused already.
   *
   * @param options.tx makes it part of a transaction of the caller's: the run is paused when that commits.
   * @throws BelayError `action_refused` once the run is over.
   */
  pause(options?: WithinActionOptions): Promise<boolean>
  /**
   * Lets a paused run go on, with all that became due meanwhile; one that failed meanwhile is undone. Resolves to false when it wasn't paused.
   *
   * @param options.tx makes it part of a transaction of the caller's: the run goes on when that commits.
   * @throws BelayError `action_refused` once the run is over.
   */
  resume(options?: WithinActionOptions): Promise<boolean>
  /**
   * Sends a run that `failed`, was `compensated` or `cancelled` forward again: what failed, never began or was undone is run, with all its
   * retries before it. Completed steps are kept with their outputs, unless they depend on a step that was undone.
   *
   * @throws BelayError `action_refused` while the run goes forward or is being undone, and when it has completed.
   */
  retry(options?: ActionOptions): Promise<void>
  /** Brings the next try of a waiting step forward to now; a step that failed for good is retried with its run, as by `retry()`. */
  retryStep(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<void>
  /**
   * Takes a step for done that is ready, waiting, or has failed its run, with a stand-in for its output. It is `skipped` from then on: what
   * depends on it goes on. It is not undone, unless its handler had succeeded and only its output could not be stored.
   *
   * @throws BelayError `action_refused` for a step that is running, has ended, or isn't next.
   */
  skipStep<Name extends StepNameOf<Outputs>>(
    step: Name,
    options?: ActionOptions & { readonly output?: Outputs[Name] },
  ): Promise<void>
  /**
   * Of a run that is being stopped or undone: stops waiting for a handler that neither ends nor heeds its signal. Its step has failed then,
   * or its compensation, with `outcome_unknown`: what it did is unknown, and the undo report says so. A `reason` is required.
   *
   * @throws BelayError `action_refused` for a step that no handler runs, or whose run goes forward: cancel that first.
   */
  giveUpStep(step: StepNameOf<Outputs>, options: ActionOptions & { readonly reason: string }): Promise<void>
  /** Calls a compensation now, with all its retries before it, that failed for good or waits for its next try. Throws `action_refused`. */
  retryCompensation(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<void>
  /** Takes a step for undone whose compensation failed for good or waits for its next try. Throws `action_refused`. */
  skipCompensation(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<void>
  /** What operators did to the run and which signals it received: the newest `limit` (default 200), oldest first. */
  history(options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]>
  /** Why the run is where it is, in one sentence for each open step. */
  explain(): Promise<Explanation>
  /**
   * Sends a signal to the step that waits for it, or will. Resolves once it is recorded, and with it that the step may go on.
   *
   * @throws BelayError `invalid_input` for a payload that the step's schema refuses, `invalid_option` for a step that takes no signals,
   * `key_conflict` for a key under which the step has another payload, `unknown_run`, `unknown_workflow`, `payload_unserialisable`,
   * `payload_too_large`. Nothing is recorded then.
   */
  signal<Name extends SignalNames<Sent>>(
    name: Name,
    ...payload: SignalArguments<SignalPayload<Sent, Name>>
  ): Promise<SignalReceipt>
  /**
   * Decides an approval with yes. The same decision with the same payload twice changes nothing.
   *
   * @throws BelayError `decision_conflict` when it was rejected before, or approved with another payload, and what `signal()` throws.
   */
  approve<Name extends ApprovalNames<Sent>>(
    name: Name,
    decision: ApproveOptionsOf<ApprovalPayload<Sent, Name>>,
  ): Promise<SignalReceipt>
  /**
   * Decides an approval with no: its step fails, without retries, and the run is undone.
   *
   * @throws BelayError `decision_conflict` when it was approved before, and what `signal()` throws.
   */
  reject<Name extends ApprovalNames<Sent>>(name: Name, decision: RejectOptions): Promise<SignalReceipt>
}

/**
 * A run that is named by its workflow and key. The first call that finds it decides which run that is; later calls are for the same run. Its
 * id is in `status()`.
 */
export interface KeyedRunHandle<Outputs = Readonly<Record<string, unknown>>, Sent = ReceivesAnything>
  extends Omit<RunHandle<Outputs, Sent>, 'id' | 'created'> {
  readonly workflow: string
  readonly key: string
}

export type SignalNames<Sent> = Sent extends Receives ? keyof Sent['signals'] & string : never
export type SignalPayload<Sent, Name> = Sent extends Receives
  ? Name extends keyof Sent['signals']
    ? Sent['signals'][Name]
    : never
  : never
export type ApprovalNames<Sent> = Sent extends Receives ? keyof Sent['approvals'] & string : never
export type ApprovalPayload<Sent, Name> = Sent extends Receives
  ? Name extends keyof Sent['approvals']
    ? Sent['approvals'][Name]
    : never
  : never

/** What follows a signal's name: its payload, which may be left out where it may be undefined, and options. */
export type SignalArguments<Payload> = undefined extends Payload
  ? [payload?: Payload, options?: SignalOptions]
  : [payload: Payload, options?: SignalOptions]

/** An approval with a schema asks for a payload. */
export type ApproveOptionsOf<Payload> = undefined extends Payload
  ? ApproveOptions<Payload>
  : ApproveOptions<Payload> & { readonly payload: Payload }

/** Names of the run's steps. */
export type StepNameOf<Outputs> = keyof Outputs & string

export interface RunHandleParts {
  readonly adapter: Adapter
  readonly watch: RunWatch
  readonly control: Control
  readonly signals: Signals
}

export function runHandle<Outputs, Sent>(parts: RunHandleParts, run: HandledRun): RunHandle<Outputs, Sent> {
  // Names, payloads and outputs are types only: at run time every handle takes any, and the definition tells.
  return new Handle(parts, run) as unknown as RunHandle<Outputs, Sent>
}

/** What a handle stands for. */
export interface HandledRun {
  readonly id: string
  readonly created: boolean
  /** The version that it follows, where that is known. */
  readonly version?: number | undefined
  /** The version of the definition that types the handle. */
  readonly typedBy?: number | undefined
}

/** A few fields and no closures: `runMany()` makes a hundred thousand of these, and most are dropped. */
class Handle {
  readonly id: string
  readonly created: boolean
  readonly version: number | undefined
  readonly #typedBy: number | undefined
  readonly #parts: RunHandleParts

  constructor(parts: RunHandleParts, { id, created, version, typedBy }: HandledRun) {
    this.#parts = parts
    this.id = id
    this.created = created
    this.version = version
    this.#typedBy = typedBy
  }

  async result(options?: ResultOptions): Promise<Readonly<Record<string, unknown>>> {
    if (this.version !== this.#typedBy) throw this.#otherVersion()
    const ended = await this.#parts.watch.over(this.id, checkResultOptions(options))
    if (ended.status !== 'completed') throw new RunFailedError(ended)
    return Object.fromEntries(ended.steps.map((step) => [step.name, step.output]))
  }

  async status(): Promise<RunSnapshot> {
    const found = await this.#parts.adapter.readRun(this.id)
    if (found === null) throw unknownRun({ runId: this.id })
    return runSnapshot(found)
  }

  cancel(options: CancelOptions = {}): Promise<boolean> {
    return this.#parts.control.cancel(this.id, options)
  }

  pause(options: WithinActionOptions = {}): Promise<boolean> {
    return this.#actWithin('pause()', { type: 'pause' }, options)
  }

  resume(options: WithinActionOptions = {}): Promise<boolean> {
    return this.#actWithin('resume()', { type: 'resume' }, options)
  }

  async retry(options: ActionOptions = {}): Promise<void> {
    await this.#act('retry()', { type: 'retry' }, options)
  }

  async retryStep(step: string, options: ActionOptions = {}): Promise<void> {
    checkStepArgument('retryStep()', step)
    await this.#act('retryStep()', { type: 'retry_step', step }, options)
  }

  async skipStep(step: string, options: ActionOptions & { readonly output?: unknown } = {}): Promise<void> {
    await this.#parts.control.skipStep(this.id, step, options)
  }

  giveUpStep(step: string, options: ActionOptions = {}): Promise<void> {
    return this.#parts.control.giveUpStep(this.id, step, options)
  }

  async retryCompensation(step: string, options: ActionOptions = {}): Promise<void> {
    checkStepArgument('retryCompensation()', step)
    await this.#act('retryCompensation()', { type: 'retry_compensation', step }, options)
  }

  async skipCompensation(step: string, options: ActionOptions = {}): Promise<void> {
    checkStepArgument('skipCompensation()', step)
    await this.#act('skipCompensation()', { type: 'skip_compensation', step }, options)
  }

  history(options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]> {
    return this.#parts.control.history(this.id, options)
  }

  explain(): Promise<Explanation> {
    return this.#parts.control.explain(this.id)
  }

  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<SignalReceipt> {
    return this.#parts.signals.send({ runId: this.id }, name, payload, options)
  }

  approve(name: string, decision: ApproveOptions<unknown>): Promise<SignalReceipt> {
    return this.#parts.signals.approve({ runId: this.id }, name, decision)
  }

  reject(name: string, decision: RejectOptions): Promise<SignalReceipt> {
    return this.#parts.signals.reject({ runId: this.id }, name, decision)
  }

  async #actWithin(method: string, action: Action, options: WithinActionOptions): Promise<boolean> {
    const { tx, ...own } = checkOptions(method, options, WITHIN_ACTION_OPTIONS)
    return (await this.#parts.control.act(this.id, action, actorOf(own), tx)).changed
  }

  #otherVersion(): BelayError {
    const { id, version } = this
    return new BelayError(
      'other_version',
      `Run ${id} was found by its key and follows version ${version} of its workflow: its outputs are not typed by version ${this.#typedBy}, which it was asked for with. Get them as what they are with engine.runs.handle("${id}").result().`,
      { runId: id },
    )
  }

  async #act(method: string, action: Action, options: ActionOptions) {
    return this.#parts.control.act(this.id, action, checkActionOptions(method, options))
  }
}
