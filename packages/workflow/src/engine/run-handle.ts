import type { Adapter } from '../adapter/index.ts'
import type { Receives, ReceivesAnything } from '../definition/index.ts'
import { BelayError } from '../errors.ts'
import { RunFailedError } from './run-failed-error.ts'
import { type RunSnapshot, runSnapshot } from './run-snapshot.ts'
import type { RunWatch } from './run-watch.ts'
import type { ApproveOptions, RejectOptions, SignalOptions, SignalReceipt, Signals } from './signals.ts'

/** A run that was started or found. Holds nothing open: keep it or drop it. */
export interface RunHandle<Outputs = Readonly<Record<string, unknown>>, Sent = ReceivesAnything> {
  readonly id: string
  /** False when `key` belonged to an earlier run, which this handle stands for. */
  readonly created: boolean
  /**
   * Waits for the end of the run, however long that takes, and gives every step's output by name.
   *
   * @throws RunFailedError when it failed or was cancelled, once its undo has come to an end; BelayError `unknown_run`, `engine_closed`.
   */
  result(): Promise<Outputs>
  /** The run and its steps as they stand now. */
  status(): Promise<RunSnapshot>
  /**
   * Stops the run: in-flight handlers are signalled and awaited, then everything is undone, and the run ends as `cancelled`.
   * Resolves once that is recorded, to whether this call stopped it: false when it was over or stopping already.
   */
  cancel(options?: { readonly reason?: string }): Promise<boolean>
  /**
   * Sends a signal to the step that waits for it, or will. Resolves once it is recorded, and with it that the step may go on.
   *
   * @throws BelayError `invalid_input` for a payload that the step's schema refuses, `invalid_option` for a step that takes no signals,
   * `unknown_run`, `unknown_workflow`, `payload_unserialisable`, `payload_too_large`. Nothing is recorded then.
   */
  signal<Name extends SignalNames<Sent>>(
    name: Name,
    ...payload: SignalArguments<SignalPayload<Sent, Name>>
  ): Promise<SignalReceipt>
  /**
   * Decides an approval with yes. The same decision twice changes nothing.
   *
   * @throws BelayError `decision_conflict` when it was rejected before, and what `signal()` throws.
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

export interface RunHandleParts {
  readonly adapter: Adapter
  readonly watch: RunWatch
  readonly signals: Signals
  readonly cancel: (runId: string, reason: string | undefined) => Promise<boolean>
}

export function runHandle<Outputs, Sent>(
  parts: RunHandleParts,
  run: { readonly id: string; readonly created: boolean },
): RunHandle<Outputs, Sent> {
  const handle: RunHandle<Outputs> = {
    ...run,
    async result() {
      const ended = await parts.watch.over(run.id)
      if (ended.status !== 'completed') throw new RunFailedError(ended)
      return Object.fromEntries(ended.steps.map((step) => [step.name, step.output])) as Outputs
    },
    async status() {
      const found = await parts.adapter.readRun(run.id)
      if (found === null) throw new BelayError('unknown_run', `There is no run ${run.id}.`, { runId: run.id })
      return runSnapshot(found)
    },
    cancel: (options) => parts.cancel(run.id, options?.reason),
    signal: (name, ...[payload, options]) => parts.signals.send(run.id, name, payload, options),
    approve: (name, decision) => parts.signals.approve(run.id, name, decision),
    reject: (name, decision) => parts.signals.reject(run.id, name, decision),
  }
  // Names and payloads are types only: at run time every handle takes any, and the definition tells.
  return handle as unknown as RunHandle<Outputs, Sent>
}
