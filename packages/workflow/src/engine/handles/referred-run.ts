import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { checkOptions, key, type OptionTable } from '../../options/index.ts'
import type { StepRepair } from '../control/action.ts'
import type { CancelOptions } from '../control/control.ts'
import type { RunHistoryEntry } from '../control/history.ts'
import type { ActionOptions, WithinActionOptions } from '../control/options.ts'
import type { ExplainOptions, Explanation } from '../diagnosis/explain/explanation.ts'
import type { ResultOptions } from '../runs/result-options.ts'
import {
  findRun,
  lookupsOfHandles,
  type RunLookup,
  type RunReference,
  runLookup,
  workflowName,
} from '../runs/run-reference.ts'
import type { RunSnapshot } from '../runs/run-snapshot.ts'
import { checkWatchOptions, type WatchedChange, type WatchOptions, watchRun } from '../runs/watch-run.ts'
import type { ApproveOptions, RejectOptions, SignalOptions, SignalReceipt } from '../signals/signals.ts'
import type { KeyedRunHandle, RunHandle, RunHandleParts } from './run-handle.ts'

export interface ReferredRunParts extends Pick<RunHandleParts, 'adapter' | 'observer' | 'signals'> {
  readonly handleOn: (runId: string) => RunHandle
  /** Throws once the engine is closed. */
  readonly assertOpen: () => void
}

/** A run of a given workflow, by id or key. */
export interface RunOf {
  readonly of: WorkflowDefinition | string
  readonly run: string | { readonly key: string }
}

/** Makes a handle on the run that a reference names. `call` names the caller's function in errors. Throws `invalid_option`. */
export function referTo(
  parts: ReferredRunParts,
  call: string,
  run: RunReference | RunOf,
): RunHandle | KeyedRunHandle {
  const lookup = isRunOf(run) ? lookupOf(call, run) : runLookup(call, run)
  if (!('runId' in lookup)) return new KeyedRun(parts, lookup)
  const { runId, workflow } = lookup
  return workflow === undefined ? parts.handleOn(runId) : new RunOfWorkflow(parts, { runId, workflow })
}

function lookupOf(call: string, { of, run }: RunOf): RunLookup {
  const workflow = workflowName(call, of)
  if (typeof run === 'string') return { ...runLookup(call, run), workflow }
  return { workflow, key: checkOptions(call, run, BY_KEY).key }
}

const BY_KEY = {
  key: { sets: 'which run of the workflow', takes: key, required: true },
} satisfies OptionTable

/** A value that throws when it is read is later refused as a reference. */
function isRunOf(run: RunReference | RunOf): run is RunOf {
  try {
    return 'of' in (run as RunOf)
  } catch {
    return false
  }
}

/** Options of a call that can be part of a caller's transaction. */
interface MayBeWithin {
  readonly tx?: unknown
}

/**
 * A handle that must look its run up first: by workflow and key, or by an id that must belong to a given workflow. The first call that finds a run
 * binds the handle to it, even if the key later moves to another run.
 */
class ReferredRun {
  readonly #parts: ReferredRunParts
  readonly #lookup: RunLookup
  #found: RunHandle | undefined

  constructor(parts: ReferredRunParts, lookup: RunLookup) {
    this.#parts = parts
    this.#lookup = lookup
    lookupsOfHandles.set(this, lookup)
  }

  async result(options?: ResultOptions): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#run()).result(options)
  }

  async step(step: string, options?: ResultOptions): Promise<unknown> {
    return (await this.#run()).step(step, options)
  }

  watch(options?: WatchOptions): AsyncIterableIterator<WatchedChange> {
    return watchRun(
      async () => this.#parts.observer.follow((await this.#run()).id, { withItems: true }),
      checkWatchOptions(options),
    )
  }

  async values(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#run()).values()
  }

  async status(): Promise<RunSnapshot> {
    return (await this.#run()).status()
  }

  async cancel(options?: CancelOptions): Promise<boolean> {
    return (await this.#run(options)).cancel(options)
  }

  async setPriority(priority: number, options?: WithinActionOptions): Promise<boolean> {
    return (await this.#run(options)).setPriority(priority, options)
  }

  async pause(options?: WithinActionOptions): Promise<boolean> {
    return (await this.#run(options)).pause(options)
  }

  async resume(options?: WithinActionOptions): Promise<boolean> {
    return (await this.#run(options)).resume(options)
  }

  async retry(options?: ActionOptions): Promise<void> {
    return (await this.#run(options)).retry(options)
  }

  async retryStep(step: string, options?: ActionOptions): Promise<StepRepair> {
    return (await this.#run(options)).retryStep(step, options)
  }

  async skipStep(step: string, options?: ActionOptions & { readonly output?: unknown }): Promise<StepRepair> {
    return (await this.#run(options)).skipStep(step, options)
  }

  async giveUpStep(step: string, options: ActionOptions & { readonly reason: string }): Promise<StepRepair> {
    return (await this.#run(options)).giveUpStep(step, options)
  }

  async retryCompensation(step: string, options?: ActionOptions): Promise<StepRepair> {
    return (await this.#run(options)).retryCompensation(step, options)
  }

  async skipCompensation(step: string, options?: ActionOptions): Promise<StepRepair> {
    return (await this.#run(options)).skipCompensation(step, options)
  }

  async history(options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]> {
    return (await this.#run()).history(options)
  }

  async explain(options?: ExplainOptions): Promise<Explanation> {
    return (await this.#run()).explain(options)
  }

  // Sending a signal looks the run up itself, together with its definition.
  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<SignalReceipt> {
    return this.#send(options, (lookup) => this.#parts.signals.send(lookup, name, payload, options))
  }

  approve(name: string, decision: ApproveOptions): Promise<SignalReceipt> {
    return this.#send(decision, (lookup) => this.#parts.signals.approve(lookup, name, decision))
  }

  reject(name: string, decision: RejectOptions): Promise<SignalReceipt> {
    return this.#send(decision, (lookup) => this.#parts.signals.reject(lookup, name, decision))
  }

  async #run(options?: object): Promise<RunHandle> {
    if (this.#found !== undefined) return this.#found
    const { adapter, handleOn, assertOpen } = this.#parts
    assertOpen()
    const tx = transactionOf(options)
    const found = handleOn((await findRun(adapter, this.#lookup, tx)).runId)
    // Do not bind within a transaction: a rollback removes the runs it started.
    if (tx === undefined) this.#standFor(found)
    return found
  }

  async #send(
    options: object | undefined,
    send: (lookup: RunLookup) => Promise<SignalReceipt>,
  ): Promise<SignalReceipt> {
    this.#parts.assertOpen()
    const receipt = await send(this.#found === undefined ? this.#lookup : { runId: this.#found.id })
    if (transactionOf(options) === undefined) this.#standFor(this.#parts.handleOn(receipt.runId))
    return receipt
  }

  #standFor(found: RunHandle): void {
    this.#found ??= found
    lookupsOfHandles.set(this, { runId: this.#found.id })
  }
}

/** A handle on a run named by workflow and key. */
class KeyedRun extends ReferredRun {
  readonly workflow: string
  readonly key: string

  constructor(parts: ReferredRunParts, lookup: { readonly workflow: string; readonly key: string }) {
    super(parts, lookup)
    this.workflow = lookup.workflow
    this.key = lookup.key
  }
}

/** A handle on a run named by id, which must be a run of this workflow. */
class RunOfWorkflow extends ReferredRun {
  readonly id: string
  readonly created = false

  constructor(parts: ReferredRunParts, lookup: { readonly workflow: string; readonly runId: string }) {
    super(parts, lookup)
    this.id = lookup.runId
  }
}

function transactionOf(options: (object & MayBeWithin) | undefined): unknown {
  return typeof options === 'object' && options !== null ? options.tx : undefined
}
