import type { StepRepair } from '../control/action.ts'
import type { CancelOptions } from '../control/control.ts'
import type { ActionOptions, WithinActionOptions } from '../control/options.ts'
import type { ExplainOptions, Explanation } from '../diagnosis/explain/explanation.ts'
import type { ResultOptions } from '../runs/result-options.ts'
import type { OutputsAt, RunReference, SentTo } from '../runs/run-reference.ts'
import type { WatchedChange, WatchOptions } from '../runs/watch-run.ts'
import type { RejectOptions, SignalReceipt } from '../signals/signals.ts'
import type { HandleOn } from './handle-on.ts'
import type {
  ApprovalNames,
  ApprovalPayload,
  ApproveOptionsOf,
  RunHandle,
  SignalArguments,
  SignalNames,
  SignalPayload,
} from './run-handle.ts'
import type { OutputAt, StandInFor, StepNameOf } from './step-names.ts'

/**
 * The methods of a handle, for a run named in the call: by a handle, an id, or its workflow and key. Each behaves like the handle's method of the
 * same name. A reference to no run throws `unknown_run` or `invalid_option`.
 */
export abstract class RunVerbs {
  /** Waits for the end of the run. See {@link RunHandle.result}. */
  async result<Reference extends RunReference>(
    run: Reference,
    options?: ResultOptions,
  ): Promise<OutputsAt<Reference>> {
    return (await this.#on('result()', run).result(options)) as OutputsAt<Reference>
  }

  /** Waits for the result of one step. See {@link RunHandle.step}. */
  async step<Reference extends RunReference, Name extends keyof OutputsAt<Reference> & string>(
    run: Reference,
    step: Name,
    options?: ResultOptions,
  ): Promise<OutputsAt<Reference>[Name]> {
    return (await this.#on('step()', run).step(step, options)) as OutputsAt<Reference>[Name]
  }

  /** Iterates over the changes of a run. See {@link RunHandle.watch}. */
  watch<Reference extends RunReference>(
    run: Reference,
    options?: WatchOptions,
  ): AsyncIterableIterator<WatchedChange<OutputsAt<Reference>>> {
    const changes: AsyncIterableIterator<unknown> = this.#on('watch()', run).watch(options)
    return changes as AsyncIterableIterator<WatchedChange<OutputsAt<Reference>>>
  }

  /** Reads the latest values that a run's steps published. See {@link RunHandle.values}. */
  async values(run: RunReference): Promise<Readonly<Record<string, unknown>>> {
    return this.#on('values()', run).values()
  }

  /** Explains what a run waits for, in one sentence for each open step. See {@link RunHandle.explain}. */
  async explain(run: RunReference, options?: ExplainOptions): Promise<Explanation> {
    return this.#on('explain()', run).explain(options)
  }

  /** Sends a signal to a step that waits for it, now or later. See {@link RunHandle.signal}. */
  async signal<Reference extends RunReference, Name extends SignalNames<SentTo<Reference>>>(
    run: Reference,
    name: Name,
    ...payload: SignalArguments<SignalPayload<SentTo<Reference>, Name>>
  ): Promise<SignalReceipt> {
    return this.#on('signal()', run).signal<string>(name, ...(payload as SignalArguments<unknown>))
  }

  /** Approves. See {@link RunHandle.approve}. */
  async approve<Reference extends RunReference, Name extends ApprovalNames<SentTo<Reference>>>(
    run: Reference,
    name: Name,
    decision: ApproveOptionsOf<ApprovalPayload<SentTo<Reference>, Name>>,
  ): Promise<SignalReceipt> {
    return this.#on('approve()', run).approve(name, decision)
  }

  /** Rejects an approval. See {@link RunHandle.reject}. */
  async reject<Reference extends RunReference, Name extends ApprovalNames<SentTo<Reference>>>(
    run: Reference,
    name: Name,
    decision: RejectOptions,
  ): Promise<SignalReceipt> {
    return this.#on('reject()', run).reject(name, decision)
  }

  /** Stops the run and undoes it. See {@link RunHandle.cancel}. */
  async cancel(run: RunReference, options?: CancelOptions): Promise<boolean> {
    return this.#on('cancel()', run).cancel(options)
  }

  /** Begins no step and no compensation until `resume()`. See {@link RunHandle.pause}. */
  async pause(run: RunReference, options?: ActionOptions): Promise<boolean> {
    return this.#on('pause()', run).pause(options)
  }

  /** Gives a run another priority. See {@link RunHandle.setPriority}. */
  async setPriority(run: RunReference, priority: number, options?: WithinActionOptions): Promise<boolean> {
    return this.#on('setPriority()', run).setPriority(priority, options)
  }

  /** Continues a paused run. See {@link RunHandle.resume}. */
  async resume(run: RunReference, options?: ActionOptions): Promise<boolean> {
    return this.#on('resume()', run).resume(options)
  }

  /** Makes a run that ended without completing go forward again. See {@link RunHandle.retry}. */
  async retry(run: RunReference, options?: ActionOptions): Promise<void> {
    return this.#on('retry()', run).retry(options)
  }

  /** Makes a step's next try run now. See {@link RunHandle.retryStep}. */
  async retryStep<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<StepRepair> {
    return this.#on('retryStep()', run).retryStep(step, options)
  }

  /** Marks a step as skipped, with a stand-in for its output. See {@link RunHandle.skipStep}. */
  async skipStep<Reference extends RunReference, Name extends StepNameOf<OutputsAt<Reference>>>(
    run: Reference,
    step: Name,
    options?: ActionOptions & { readonly output?: StandInFor<OutputAt<OutputsAt<Reference>, Name>> },
  ): Promise<StepRepair> {
    return this.#on('skipStep()', run).skipStep(step, options as ActionOptions)
  }

  /** Stops waiting for a handler that does not end. See {@link RunHandle.giveUpStep}. */
  async giveUpStep<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options: ActionOptions & { readonly reason: string },
  ): Promise<StepRepair> {
    return this.#on('giveUpStep()', run).giveUpStep(step, options)
  }

  /** Calls a compensation again that failed permanently. See {@link RunHandle.retryCompensation}. */
  async retryCompensation<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<StepRepair> {
    return this.#on('retryCompensation()', run).retryCompensation(step, options)
  }

  /** Marks a step as undone whose compensation failed permanently. See {@link RunHandle.skipCompensation}. */
  async skipCompensation<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<StepRepair> {
    return this.#on('skipCompensation()', run).skipCompensation(step, options)
  }

  /** Makes a handle on the run that a reference names. `call` names the called function in errors. */
  protected abstract refer(call: string, run: RunReference): RunHandle | HandleOn<RunReference>

  #on(call: string, run: RunReference): RunHandle {
    // The compiler checks against the reference's types; at run time a handle accepts any.
    return this.refer(call, run) as RunHandle
  }
}
