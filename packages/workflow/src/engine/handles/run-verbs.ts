import type { CancelOptions } from '../control/control.ts'
import type { ActionOptions } from '../control/options.ts'
import type { Explanation } from '../diagnosis/explain/explanation.ts'
import type { ResultOptions } from '../runs/result-options.ts'
import type { OutputsAt, RunReference, SentTo } from '../runs/run-reference.ts'
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
  StepNameOf,
} from './run-handle.ts'

/**
 * The verbs of a handle, for a run that is named in the call: by a handle, an id, or its workflow and key. Each does, gives and throws what the
 * handle's verb of that name does; `unknown_run` and `invalid_option` tell of a reference that names none.
 */
export abstract class RunVerbs {
  /** Waits for the end of the run. See {@link RunHandle.result}. */
  async result<Reference extends RunReference>(
    run: Reference,
    options?: ResultOptions,
  ): Promise<OutputsAt<Reference>> {
    return (await this.#on('result()', run).result(options)) as OutputsAt<Reference>
  }

  /** Why a run is where it is, in one sentence for each open step. */
  async explain(run: RunReference): Promise<Explanation> {
    return this.#on('explain()', run).explain()
  }

  /** Sends a signal to the step that waits for it, or will. See {@link RunHandle.signal}. */
  async signal<Reference extends RunReference, Name extends SignalNames<SentTo<Reference>>>(
    run: Reference,
    name: Name,
    ...payload: SignalArguments<SignalPayload<SentTo<Reference>, Name>>
  ): Promise<SignalReceipt> {
    return this.#on('signal()', run).signal<string>(name, ...(payload as SignalArguments<unknown>))
  }

  /** Decides an approval with yes. See {@link RunHandle.approve}. */
  async approve<Reference extends RunReference, Name extends ApprovalNames<SentTo<Reference>>>(
    run: Reference,
    name: Name,
    decision: ApproveOptionsOf<ApprovalPayload<SentTo<Reference>, Name>>,
  ): Promise<SignalReceipt> {
    return this.#on('approve()', run).approve(name, decision)
  }

  /** Decides an approval with no. See {@link RunHandle.reject}. */
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

  /** Lets handlers in flight end, and begins nothing more. See {@link RunHandle.pause}. */
  async pause(run: RunReference, options?: ActionOptions): Promise<boolean> {
    return this.#on('pause()', run).pause(options)
  }

  /** Lets a paused run go on. See {@link RunHandle.resume}. */
  async resume(run: RunReference, options?: ActionOptions): Promise<boolean> {
    return this.#on('resume()', run).resume(options)
  }

  /** Sends a run that ended without completing forward again. See {@link RunHandle.retry}. */
  async retry(run: RunReference, options?: ActionOptions): Promise<void> {
    return this.#on('retry()', run).retry(options)
  }

  /** Brings the next try of a step forward to now. See {@link RunHandle.retryStep}. */
  async retryStep<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<void> {
    return this.#on('retryStep()', run).retryStep(step, options)
  }

  /** Takes a step for done, with a stand-in for its output. See {@link RunHandle.skipStep}. */
  async skipStep<Reference extends RunReference, Name extends StepNameOf<OutputsAt<Reference>>>(
    run: Reference,
    step: Name,
    options?: ActionOptions & { readonly output?: OutputsAt<Reference>[Name] },
  ): Promise<void> {
    return this.#on('skipStep()', run).skipStep(step, options)
  }

  /** Stops waiting for a handler that does not end. See {@link RunHandle.giveUpStep}. */
  async giveUpStep<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options: ActionOptions & { readonly reason: string },
  ): Promise<void> {
    return this.#on('giveUpStep()', run).giveUpStep(step, options)
  }

  /** Calls a compensation again that failed for good. See {@link RunHandle.retryCompensation}. */
  async retryCompensation<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<void> {
    return this.#on('retryCompensation()', run).retryCompensation(step, options)
  }

  /** Takes a step for undone whose compensation failed for good. See {@link RunHandle.skipCompensation}. */
  async skipCompensation<Reference extends RunReference>(
    run: Reference,
    step: StepNameOf<OutputsAt<Reference>>,
    options?: ActionOptions,
  ): Promise<void> {
    return this.#on('skipCompensation()', run).skipCompensation(step, options)
  }

  /** A handle on the run that a reference names. `call` is for messages. */
  protected abstract refer(call: string, run: RunReference): RunHandle | HandleOn<RunReference>

  #on(call: string, run: RunReference): RunHandle {
    // What follows has the types of the reference; a handle takes any at run time.
    return this.refer(call, run) as RunHandle
  }
}
