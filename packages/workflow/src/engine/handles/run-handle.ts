import type { Adapter } from '../../adapter/index.ts'
import type { Receives, ReceivesAnything } from '../../definition/index.ts'
import { BelayError } from '../../errors.ts'
import { checkOptions } from '../../options/index.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { valuesByKey } from '../base/told-values.ts'
import type { Action, StepRepair } from '../control/action.ts'
import type { CancelOptions, Control } from '../control/control.ts'
import type { RunHistoryEntry } from '../control/history.ts'
import {
  type ActionOptions,
  actorOf,
  checkActionOptions,
  checkPriority,
  checkStepArgument,
  WITHIN_ACTION_OPTIONS,
  type WithinActionOptions,
} from '../control/options.ts'
import type { ExplainOptions, Explanation } from '../diagnosis/explain/explanation.ts'
import { callsOf } from '../runs/collected-calls.ts'
import { checkItemsPage, readPage } from '../runs/items-page.ts'
import { checkResultOptions, type ResultOptions } from '../runs/result-options.ts'
import { RunFailedError } from '../runs/run-failed-error.ts'
import type { RunObserver } from '../runs/run-observer.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { type RunSnapshot, runSnapshot } from '../runs/run-snapshot.ts'
import type { RunWatch } from '../runs/run-watch.ts'
import { stepResult } from '../runs/step-result.ts'
import { checkWatchOptions, type WatchedChange, type WatchOptions, watchRun } from '../runs/watch-run.ts'
import type {
  ApproveOptions,
  RejectOptions,
  SignalOptions,
  SignalReceipt,
  Signals,
} from '../signals/signals.ts'
import type { CollectedStart } from '../start/collect-run.ts'
import type { OutputAt, StandInFor, StepNameOf } from './step-names.ts'

/** A handle on a run that was started or found. It holds no resources and needs no closing. */
export interface RunHandle<Outputs = Readonly<Record<string, unknown>>, Sent = ReceivesAnything> {
  readonly id: string
  /** Carries types only: there is no such property at run time. */
  readonly '~types'?: { readonly outputs: Outputs; readonly receives: Sent } | undefined
  /** False when `key` belonged to an earlier run, or when the call joined a run that collects. This handle then stands for that run. */
  readonly created: boolean
  /** How the call was collected. Undefined for a workflow that starts a run for each call, and for a handle that `run()` did not give. */
  readonly collected?: CollectedStart | undefined
  /**
   * The version that the run was started with. It may be older than requested if `key` belonged to an earlier run. Undefined for a handle made from
   * an id or a key.
   */
  readonly version?: number | undefined
  /**
   * Waits for the end of the run, without limit or up to `timeout`. Resolves to every step's output, by step name.
   *
   * @throws RunFailedError when the run failed or was cancelled, after its undo has ended; BelayError `result_timeout` or `result_aborted` when the
   * wait ends before the run, which continues; `unknown_run`, `run_lost`, `engine_closed`, `invalid_option`; `other_version`, at once, when the run was found
   * by its key and its version is not that of the definition that types this handle.
   */
  result(options?: ResultOptions): Promise<Outputs>
  /**
   * Waits until one step has completed, and resolves to its output, without waiting for the rest of the run. Also resolves for a step that an
   * operator skipped, to the stand-in.
   *
   * @throws StepFailedError when the step has failed for good, was cancelled or undone, or when the run has ended without it; `invalid_option` for a
   * step that the run does not have; otherwise what `result()` throws.
   */
  step<Name extends keyof Outputs & string>(step: Name, options?: ResultOptions): Promise<Outputs[Name]>
  /**
   * Iterates over the changes of the run, its steps, its values and its progress, beginning with the present state. Ends with the run, when
   * `result()` would settle. Changes that come faster than they are taken are told as one.
   *
   * @throws BelayError `invalid_option`; in the iteration `watch_aborted`, `unknown_run`, `run_lost`, `engine_closed`.
   */
  watch(options?: WatchOptions): AsyncIterableIterator<WatchedChange<Outputs>>
  /** Reads the latest values that the run's steps published, by key. Throws `unknown_run`. */
  values(): Promise<Readonly<Record<string, unknown>>>
  /** Reads the run and its steps. */
  status(): Promise<RunSnapshot>
  /**
   * Stops the run: signals in-flight handlers, awaits them, then undoes the run unless `compensate` is false. The run ends as `cancelled`. Also
   * ends a pause. Resolves once the stop is recorded: true if this call stopped the run, false if it had ended or was already stopping. An undo
   * under way continues.
   *
   * @param options.tx makes the action part of the caller's transaction: the run is stopped when it commits.
   * @throws BelayError `action_refused` for `compensate: false` when the run is already being undone: use pause() to stop an undo.
   */
  cancel(options?: CancelOptions): Promise<boolean>
  /**
   * Begins no step and no compensation until `resume()`. Running handlers may end. Timers and deadlines keep running, and signals are kept. A run
   * that fails or misses its deadline meanwhile stays paused. Resolves to true if this call paused the run, false if it was already paused.
   *
   * @param options.tx makes the action part of the caller's transaction: the run is paused when it commits.
   * @throws BelayError `action_refused` once the run has ended.
   */
  pause(options?: WithinActionOptions): Promise<boolean>
  /**
   * Continues a paused run, including everything that became due during the pause. A run that failed meanwhile is undone. Resolves to false if the
   * run was not paused.
   *
   * @param options.tx makes the action part of the caller's transaction: the run continues when it commits.
   * @throws BelayError `action_refused` once the run has ended.
   */
  resume(options?: WithinActionOptions): Promise<boolean>
  /**
   * Gives the run another priority, a whole number from 0 to 1,000. Its waiting steps take the places in the queue that they would have had with this
   * priority from the beginning. Resolves to false if the run had it already.
   *
   * @param options.tx makes the action part of the caller's transaction: the priority changes when it commits.
   * @throws BelayError `action_refused` once the run has ended or was stopped, and `invalid_option`.
   */
  setPriority(priority: number, options?: WithinActionOptions): Promise<boolean>
  /**
   * Makes a `failed`, `compensated` or `cancelled` run go forward again. Steps that failed, never began or were undone run again, with all their
   * retries. Completed steps keep their outputs, unless they depend on a step that was undone.
   *
   * @throws BelayError `action_refused` while the run goes forward or is being undone, and if it has completed.
   */
  retry(options?: ActionOptions): Promise<void>
  /** Makes a step that waits for its next try run now. If the step failed permanently, this retries its run, like `retry()`. */
  retryStep(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<StepRepair>
  /**
   * Marks a step as `skipped`, with a stand-in for its output, so that its dependents can run. The step must be ready, waiting, or the one that
   * failed the run. It is not undone, unless its handler had succeeded and only its output could not be stored.
   *
   * @throws BelayError `action_refused` for a step that is running, has ended, or still waits for its dependencies.
   */
  skipStep<Name extends StepNameOf<Outputs>>(
    step: Name,
    options?: ActionOptions & { readonly output?: StandInFor<OutputAt<Outputs, Name>> },
  ): Promise<StepRepair>
  /**
   * Stops waiting for a handler that neither ends nor reacts to its signal, in a run that is being stopped or undone. Its step or compensation
   * fails with `outcome_unknown`: what the handler did is unknown, and the undo report says so. A `reason` is required.
   *
   * @throws BelayError `action_refused` for a step whose handler is not running, or whose run goes forward: cancel the run first.
   */
  giveUpStep(
    step: StepNameOf<Outputs>,
    options: ActionOptions & { readonly reason: string },
  ): Promise<StepRepair>
  /** Calls a compensation again now, with all its retries. It must have failed permanently or wait for its next try. Throws `action_refused`. */
  retryCompensation(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<StepRepair>
  /** Marks a step as undone whose compensation failed permanently or waits for its next try. Throws `action_refused`. */
  skipCompensation(step: StepNameOf<Outputs>, options?: ActionOptions): Promise<StepRepair>
  /** The actions of operators on the run and the signals it received: the newest `limit` (default 200), oldest first. */
  history(options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]>
  /**
   * Explains what the run waits for, in one sentence for each open step. Of each map and status, `itemsMax` items (default 100) have a sentence of
   * their own; `more` of the answer counts the others. Throws `invalid_option`.
   */
  explain(options?: ExplainOptions): Promise<Explanation>
  /**
   * Sends a signal to a step that waits for it, now or later. Resolves once the signal is recorded and the step, if it waits, may continue.
   *
   * @throws BelayError `invalid_input` for a payload that the step's schema refuses, `invalid_option` for a step that takes no signals,
   * `key_conflict` for a key that the step received with another payload, `unknown_run`, `unknown_workflow`, `payload_unserialisable`,
   * `payload_too_large`. After an error nothing is recorded.
   */
  signal<Name extends SignalNames<Sent>>(
    name: Name,
    ...payload: SignalArguments<SignalPayload<Sent, Name>>
  ): Promise<SignalReceipt>
  /**
   * Approves. Repeating the same decision with the same payload changes nothing.
   *
   * @throws BelayError `decision_conflict` if it was already rejected, or approved with another payload; and what `signal()` throws.
   */
  approve<Name extends ApprovalNames<Sent>>(
    name: Name,
    decision: ApproveOptionsOf<ApprovalPayload<Sent, Name>>,
  ): Promise<SignalReceipt>
  /**
   * Rejects an approval: its step fails, without retries, and the run is undone.
   *
   * @throws BelayError `decision_conflict` if it was already approved; and what `signal()` throws.
   */
  reject<Name extends ApprovalNames<Sent>>(name: Name, decision: RejectOptions): Promise<SignalReceipt>
}

/** A handle on a run named by workflow and key. The first call that finds a run binds the handle to it. `status()` gives its id. */
export interface KeyedRunHandle<Outputs = Readonly<Record<string, unknown>>, Sent = ReceivesAnything>
  extends Omit<RunHandle<Outputs, Sent>, 'id' | 'created' | 'collected'> {
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

/** The arguments after a signal's name: its payload, optional if it may be undefined, and options. */
export type SignalArguments<Payload> = undefined extends Payload
  ? [payload?: Payload, options?: SignalOptions]
  : [payload: Payload, options?: SignalOptions]

/** An approval with a schema requires a payload. */
export type ApproveOptionsOf<Payload> = undefined extends Payload
  ? ApproveOptions<Payload>
  : ApproveOptions<Payload> & { readonly payload: Payload }

export interface RunHandleParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly watch: RunWatch
  readonly observer: RunObserver
  readonly control: Control
  readonly signals: Signals
}

export function runHandle<Outputs, Sent>(parts: RunHandleParts, run: HandledRun): RunHandle<Outputs, Sent> {
  // Names, payloads and outputs are checked by the compiler only; at run time the run's definition checks them.
  return new Handle(parts, run) as unknown as RunHandle<Outputs, Sent>
}

/** The run that a handle stands for. */
export interface HandledRun {
  readonly id: string
  readonly created: boolean
  /** The run's version, if known. */
  readonly version?: number | undefined
  /** The version of the definition that types the handle. */
  readonly typedBy?: number | undefined
  readonly collected?: CollectedStart | undefined
}

/** A few fields and no closures: `runMany()` makes a hundred thousand handles, most of which are never used. */
class Handle {
  readonly id: string
  readonly created: boolean
  readonly version: number | undefined
  readonly collected: CollectedStart | undefined
  readonly #typedBy: number | undefined
  readonly #parts: RunHandleParts

  constructor(parts: RunHandleParts, { id, created, version, typedBy, collected }: HandledRun) {
    this.#parts = parts
    this.id = id
    this.created = created
    this.version = version
    this.collected = collected
    this.#typedBy = typedBy
  }

  async result(options?: ResultOptions): Promise<Readonly<Record<string, unknown>>> {
    if (this.version !== this.#typedBy) throw this.#otherVersion()
    const ended = await this.#parts.watch.over(this.id, {
      ...checkResultOptions(options),
      isStarted: this.created,
    })
    if (ended.outputs === undefined) throw new RunFailedError(runSnapshot(ended.seen))
    return ended.outputs
  }

  async step(step: string, options?: ResultOptions): Promise<unknown> {
    if (this.version !== this.#typedBy) throw this.#otherVersion()
    checkStepArgument('step()', step)
    const patience = checkResultOptions(options, 'step()')
    const isStarted = this.created
    return stepResult(this.#parts.observer, { runId: this.id, step, isStarted, ...patience })
  }

  watch(options?: WatchOptions): AsyncIterableIterator<WatchedChange> {
    return watchRun(
      async () => this.#parts.observer.follow(this.id, { withItems: true, isStarted: this.created }),
      checkWatchOptions(options),
    )
  }

  async values(): Promise<Readonly<Record<string, unknown>>> {
    const values = await this.#parts.adapter.readValues(this.id)
    if (values === null) throw unknownRun({ runId: this.id })
    return valuesByKey(values)
  }

  async status(): Promise<RunSnapshot> {
    const found = await readPage(this.#parts, this.id, checkItemsPage('status()', {}))
    if (found === null) throw unknownRun({ runId: this.id })
    return { ...runSnapshot(found), ...(await callsOf(this.#parts.adapter, found.run)) }
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

  async setPriority(priority: number, options: WithinActionOptions = {}): Promise<boolean> {
    const action = { type: 'set_priority', priority: checkPriority('setPriority()', priority) } as const
    return this.#actWithin('setPriority()', action, options)
  }

  async retry(options: ActionOptions = {}): Promise<void> {
    await this.#act('retry()', { type: 'retry' }, options)
  }

  async retryStep(step: string, options: ActionOptions = {}): Promise<StepRepair> {
    checkStepArgument('retryStep()', step)
    return (await this.#act('retryStep()', { type: 'retry_step', step }, options)).repair!
  }

  async skipStep(
    step: string,
    options: ActionOptions & { readonly output?: unknown } = {},
  ): Promise<StepRepair> {
    return (await this.#parts.control.skipStep(this.id, step, options)).repair!
  }

  giveUpStep(step: string, options: ActionOptions = {}): Promise<StepRepair> {
    return this.#parts.control.giveUpStep(this.id, step, options)
  }

  async retryCompensation(step: string, options: ActionOptions = {}): Promise<StepRepair> {
    checkStepArgument('retryCompensation()', step)
    return (await this.#act('retryCompensation()', { type: 'retry_compensation', step }, options)).repair!
  }

  async skipCompensation(step: string, options: ActionOptions = {}): Promise<StepRepair> {
    checkStepArgument('skipCompensation()', step)
    return (await this.#act('skipCompensation()', { type: 'skip_compensation', step }, options)).repair!
  }

  history(options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]> {
    return this.#parts.control.history(this.id, options)
  }

  explain(options?: ExplainOptions): Promise<Explanation> {
    return this.#parts.control.explain(this.id, options)
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
