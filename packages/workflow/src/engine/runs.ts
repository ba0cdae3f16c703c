import type { Adapter, RunStatus } from '../adapter/index.ts'
import { RUN_TRANSITIONS } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'
import { actOnMany, type BulkOptions, type BulkResult, cancelMany, migrateMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from './release-keys.ts'
import type { RunHandle } from './run-handle.ts'
import { type RunSnapshot, type RunSummary, runSnapshot, runSummary } from './run-snapshot.ts'

const LIST_DEFAULT = 50
const LIST_MAX = 1_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export interface RunsFilter {
  readonly workflow?: string
  readonly status?: RunStatus | readonly RunStatus[]
  readonly key?: string
  /** Only runs older than this run: the id of the last run of the page before. */
  readonly before?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

/** Which runs an action is for. An empty filter means all that the action fits. */
export type RunsToChange = Pick<RunsFilter, 'workflow' | 'status' | 'key'>

/** Reads runs of any process, and acts on many of them. */
export class Runs {
  readonly #adapter: Adapter
  readonly #control: Control
  readonly #handle: (id: string) => RunHandle

  constructor(adapter: Adapter, control: Control, handle: (id: string) => RunHandle) {
    this.#adapter = adapter
    this.#control = control
    this.#handle = handle
  }

  /** One run with its steps, or undefined. */
  async get(id: string): Promise<RunSnapshot | undefined> {
    // Anything but a uuid names no run; asking PostgreSQL would be an error instead of an answer.
    if (!UUID.test(id)) return undefined
    await this.#adapter.open()
    const found = await this.#adapter.readRun(id)
    return found === null ? undefined : runSnapshot(found)
  }

  /** Runs, newest first, one page at a time. Throws `invalid_option`. */
  async list(filter: RunsFilter = {}): Promise<readonly RunSummary[]> {
    const { before, limit = LIST_DEFAULT } = filter
    if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX) {
      throw new BelayError(
        'invalid_option',
        `runs.list(): limit must be a whole number from 1 to ${LIST_MAX}; got ${limit}.`,
      )
    }
    if (before !== undefined && !UUID.test(before)) {
      throw new BelayError(
        'invalid_option',
        `runs.list(): before must be a run id; got ${JSON.stringify(before)}.`,
      )
    }
    const wanted = checkFilter('list()', filter)
    await this.#adapter.open()
    return (await this.#adapter.listRuns({ ...wanted, before, limit })).map(runSummary)
  }

  /** Cancels every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async cancelMany(
    filter: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkBulkFilter('cancelMany()', filter), options)
  }

  /** Pauses every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async pauseMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('pauseMany()', { type: 'pause' }, filter, options)
  }

  /** Resumes every run that fits the filter; without a status in it, all that are paused. Throws `invalid_option`. */
  async resumeMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('resumeMany()', { type: 'resume' }, filter, options)
  }

  /** Retries every run that fits the filter; without a status in it, all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('retryMany()', { type: 'retry' }, filter, options)
  }

  /**
   * Moves every run that fits the filter to this version of its workflow; without a workflow in it, the runs of that workflow, and without a
   * status, those that go forward. See `engine.migrateRun()`. Runs that have the version already are matched, and not changed.
   *
   * @throws BelayError `invalid_option`, `unknown_workflow`, `definition_changed`.
   */
  async migrateMany(
    filter: RunsToChange,
    workflow: WorkflowDefinition,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return migrateMany(this.#parts(), checkBulkFilter('migrateMany()', filter), workflow, options)
  }

  /**
   * Calls the compensation of this step again in every run that fits the filter; without a status in it, in all that are parked. Of a run
   * whose undo is under way it brings the next try forward. Throws `invalid_option`.
   */
  async retryCompensationMany(
    filter: RunsToChange,
    step: string,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return this.#actOnMany('retryCompensationMany()', { type: 'retry_compensation', step }, filter, options)
  }

  /**
   * Takes this step for undone in every run that fits the filter; without a status in it, in all that are parked. Throws `invalid_option`.
   */
  async skipCompensationMany(
    filter: RunsToChange,
    step: string,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return this.#actOnMany('skipCompensationMany()', { type: 'skip_compensation', step }, filter, options)
  }

  /** What was done to a run from outside, oldest first: see `RunHandle.history()`. Throws `unknown_run`. */
  async history(id: string, options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]> {
    return this.handle(id).history(options)
  }

  /**
   * Takes the keys from runs that ended long enough ago: starting with such a key then makes a new run. In batches, like `engine.prune()`.
   *
   * @throws BelayError `invalid_option`, and the store's.
   */
  releaseKeys(options: ReleaseKeysOptions): Promise<ReleasedKeys> {
    return releaseKeys(this.#adapter, options)
  }

  /** A handle on a run that was started elsewhere. Does not look whether it exists: its methods do. */
  handle<Outputs = Readonly<Record<string, unknown>>>(id: string): RunHandle<Outputs> {
    if (!UUID.test(id))
      throw new BelayError('invalid_option', `runs.handle(): ${JSON.stringify(id)} is not a run id.`)
    return this.#handle(id) as RunHandle<Outputs>
  }

  #actOnMany(
    method: string,
    action: Parameters<typeof actOnMany>[2],
    filter: RunsToChange,
    options: BulkOptions,
  ): Promise<BulkResult> {
    if ('step' in action && typeof action.step !== 'string') {
      const message = `runs.${method}: the step must be a name; got ${typeof action.step}.`
      throw new BelayError('invalid_option', message)
    }
    return actOnMany(this.#parts(), method, action, checkBulkFilter(method, filter), options)
  }

  #parts() {
    return { adapter: this.#adapter, control: this.#control }
  }
}

function checkFilter(method: string, { workflow, key, status }: RunsFilter) {
  const statuses = status === undefined ? undefined : [status].flat()
  for (const name of statuses ?? []) checkStatus(method, name)
  return { workflow, key, status: statuses }
}

/** A filter with a typing error in it would fit every run. */
function checkBulkFilter(method: string, filter: RunsToChange) {
  const known = ['workflow', 'status', 'key']
  for (const name of Object.keys(filter)) {
    if (known.includes(name)) continue
    throw new BelayError(
      'invalid_option',
      `runs.${method}: a filter has no "${name}".${didYouMean(name, known)} It takes ${known.join(', ')}.`,
    )
  }
  return checkFilter(method, filter)
}

function checkStatus(method: string, status: string): void {
  if (status in RUN_TRANSITIONS) return
  throw new BelayError(
    'invalid_option',
    `runs.${method}: there is no status "${status}". It is one of ${Object.keys(RUN_TRANSITIONS).join(', ')}.`,
  )
}
