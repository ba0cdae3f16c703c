import type { Adapter, RunStatus } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import { wholeNumber } from './call-options.ts'
import { actOnMany, type BulkOptions, type BulkResult, cancelMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import type { Selection } from './control/selected-runs.ts'
import type { RunOf } from './referred-run.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from './release-keys.ts'
import type { KeyedRunHandle, RunHandle } from './run-handle.ts'
import {
  type HandleOn,
  isNamedBy,
  isRunId,
  type OutputsAt,
  type RunReference,
  runLookup,
  type SentTo,
} from './run-reference.ts'
import { type RunSnapshot, type RunSummary, runSnapshot, runSummary } from './run-snapshot.ts'
import { checkConditions, type RunsMatching } from './runs-filter.ts'

const LIST_DEFAULT = 50
const LIST_MAX = 1_000
const COUNT_DEFAULT = 10_000
const COUNT_MAX = 1_000_000

/** A page of the runs that fit. */
export interface RunsFilter extends RunsMatching {
  /** Only runs older than this run: the id of the last run of the page before. */
  readonly before?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

/** Which runs to count. */
export interface RunsToCount extends RunsMatching {
  /** Counts no further than this, 1 to 1,000,000; default 10,000. */
  readonly max?: number
}

/** How many runs fit. */
export interface CountedRuns {
  /** At most the `max` that was asked for. */
  readonly count: number
  /** True when there are more. */
  readonly capped: boolean
}

/** How many runs fit, for each status that any of them has. */
export type CountedByStatus = { readonly [Status in RunStatus]?: CountedRuns }

/** Which runs an action is for: those that fit a filter, where an empty one means all that the action fits, or those that a list names. */
export type RunsToChange = RunsMatching | readonly RunReference[]

/** Makes a handle on the run that a reference names; `call` names who was given it. */
type RunReferrer = (call: string, run: RunReference | RunOf) => RunHandle | KeyedRunHandle

/** Reads runs of any process, and acts on many of them. */
export class Runs {
  readonly #adapter: Adapter
  readonly #control: Control
  readonly #refer: RunReferrer

  constructor(adapter: Adapter, control: Control, refer: RunReferrer) {
    this.#adapter = adapter
    this.#control = control
    this.#refer = refer
  }

  /** One run with its steps, or undefined when the reference names none. Throws `invalid_option` for what is no reference. */
  async get(run: RunReference): Promise<RunSnapshot | undefined> {
    if (typeof run === 'string' && !isRunId(run)) return undefined
    const lookup = runLookup('runs.get()', run)
    await this.#adapter.open()
    const named = 'runId' in lookup ? lookup : await this.#adapter.findRun(lookup)
    const found = named === null ? null : await this.#adapter.readRun(named.runId)
    return found === null || !isNamedBy(lookup, found.run) ? undefined : runSnapshot(found)
  }

  /** Runs, newest first, one page at a time. Throws `invalid_option`. */
  async list(filter: RunsFilter = {}): Promise<readonly RunSummary[]> {
    const wanted = checkConditions('runs.list()', filter, ['before', 'limit'])
    const { before, limit = LIST_DEFAULT } = filter
    wholeNumber('runs.list()', 'limit', limit, 1, LIST_MAX)
    if (before !== undefined && !isRunId(before)) {
      throw new BelayError(
        'invalid_option',
        `runs.list(): before must be a run id; got ${JSON.stringify(before)}.`,
      )
    }
    await this.#adapter.open()
    return (await this.#adapter.listRuns({ ...wanted, before, limit })).map(runSummary)
  }

  /**
   * How many runs fit, counted up to `max`: it costs no more than that, however many there are. Throws `invalid_option`.
   */
  async count(filter: RunsToCount = {}): Promise<CountedRuns> {
    const request = checkCount('runs.count()', filter)
    await this.#adapter.open()
    const [counted] = await this.#adapter.countRuns({ ...request, byStatus: false })
    const { count, capped } = counted!
    return { count, capped }
  }

  /**
   * The same by status, each counted up to `max`; statuses that no run has are left out. Whether a run is scheduled, running or waiting is
   * found out for the newest `max` of these together: beyond that, all three are `capped`. Throws `invalid_option`.
   */
  async countByStatus(filter: RunsToCount = {}): Promise<CountedByStatus> {
    const request = checkCount('runs.countByStatus()', filter)
    await this.#adapter.open()
    const counts = await this.#adapter.countRuns({ ...request, byStatus: true })
    return Object.fromEntries(counts.map(({ status, count, capped }) => [status, { count, capped }]))
  }

  /** Cancels every run that fits a filter, or that a list names; a filter without a status means all that go forward. Throws `invalid_option`. */
  async cancelMany(
    runs: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkSelection('cancelMany()', runs), options)
  }

  /** Pauses every run that fits a filter, or that a list names; a filter without a status means all that go forward. Throws `invalid_option`. */
  async pauseMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'pause', checkSelection('pauseMany()', runs), options)
  }

  /** Resumes every run that fits a filter, or that a list names; a filter without a status means all that are paused. Throws `invalid_option`. */
  async resumeMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'resume', checkSelection('resumeMany()', runs), options)
  }

  /** Retries every run that fits a filter, or that a list names; a filter without a status means all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'retry', checkSelection('retryMany()', runs), options)
  }

  /** What was done to a run from outside, oldest first: see `RunHandle.history()`. Throws `unknown_run`. */
  async history(
    run: RunReference,
    options?: { readonly limit?: number },
  ): Promise<readonly RunHistoryEntry[]> {
    return this.#refer('runs.history()', run).history(options)
  }

  /**
   * Takes the keys from runs that ended long enough ago: starting with such a key then makes a new run. In batches, like `engine.prune()`.
   *
   * @throws BelayError `invalid_option`, and the store's.
   */
  releaseKeys(options: ReleaseKeysOptions): Promise<ReleasedKeys> {
    return releaseKeys(this.#adapter, options)
  }

  /**
   * A handle on a run that was started elsewhere; with its definition, by id or by key, it knows the run's types. Does not look whether the run
   * exists: its methods do. A definition's types are those of its version, and the run may follow another: `status()` says which.
   *
   * @throws BelayError `invalid_option` for what cannot name a run.
   */
  handle<W extends WorkflowDefinition | string>(
    workflow: W,
    run: string,
  ): RunHandle<OutputsAt<{ workflow: W }>, SentTo<{ workflow: W }>>
  handle<W extends WorkflowDefinition | string>(
    workflow: W,
    run: { readonly key: string },
  ): KeyedRunHandle<OutputsAt<{ workflow: W }>, SentTo<{ workflow: W }>>
  handle<Reference extends RunReference>(run: Reference): HandleOn<Reference>
  // Types of outputs and signals are the overloads': at run time every handle takes any.
  handle(first: RunReference | WorkflowDefinition, run?: string | { readonly key: string }): unknown {
    if (run === undefined) return this.#refer('runs.handle()', first as RunReference)
    return this.#refer('runs.handle()', { of: first as WorkflowDefinition | string, run })
  }

  #parts() {
    return { adapter: this.#adapter, control: this.#control }
  }
}

function checkCount(call: string, filter: RunsToCount) {
  const conditions = checkConditions(call, filter, ['max'])
  const { max = COUNT_DEFAULT } = filter
  return { ...conditions, max: wholeNumber(call, 'max', max, 1, COUNT_MAX) }
}

function checkSelection(method: string, runs: RunsToChange): Selection {
  if (isReferences(runs)) return runs.map((run) => runLookup(`runs.${method}`, run))
  return checkConditions(`runs.${method}`, runs)
}

function isReferences(runs: RunsToChange): runs is readonly RunReference[] {
  return Array.isArray(runs)
}
