import type { Adapter, RunStatus } from '../adapter/index.ts'
import { RUN_TRANSITIONS } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'
import { actOnMany, type BulkOptions, type BulkResult, cancelMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from './release-keys.ts'
import { type RunAttempt, readRunAttempts } from './run-attempt.ts'
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
    return actOnMany(this.#parts(), 'pause', checkBulkFilter('pauseMany()', filter), options)
  }

  /** Resumes every run that fits the filter; without a status in it, all that are paused. Throws `invalid_option`. */
  async resumeMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'resume', checkBulkFilter('resumeMany()', filter), options)
  }

  /** Retries every run that fits the filter; without a status in it, all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'retry', checkBulkFilter('retryMany()', filter), options)
  }

  /** What was done to a run from outside, oldest first: see `RunHandle.history()`. Throws `unknown_run`. */
  async history(id: string, options?: { readonly limit?: number }): Promise<readonly RunHistoryEntry[]> {
    return this.handle(id).history(options)
  }

  /**
   * The attempts of a run that were kept, in the order in which they ended: those that engines with the option `attempts: 'keep'` have ended,
   * of both directions and all rounds. `limit`: the newest so many, 1 to 10,000; default 200. Throws `unknown_run`, `invalid_option`.
   */
  async attempts(
    run: string | { readonly id: string },
    options: { readonly limit?: number } = {},
  ): Promise<readonly RunAttempt[]> {
    const { id } = typeof run === 'string' ? this.handle(run) : run
    return readRunAttempts(this.#adapter, id, options)
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
