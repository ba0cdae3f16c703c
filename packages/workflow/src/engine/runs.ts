import type { Adapter, RunStatus } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import { wholeNumber } from './call-options.ts'
import { actOnMany, type BulkOptions, type BulkResult, cancelMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from './release-keys.ts'
import type { RunHandle } from './run-handle.ts'
import { type RunSnapshot, type RunSummary, runSnapshot, runSummary } from './run-snapshot.ts'
import { checkConditions, type RunsMatching } from './runs-filter.ts'

const LIST_DEFAULT = 50
const LIST_MAX = 1_000
const COUNT_DEFAULT = 10_000
const COUNT_MAX = 1_000_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A page of the runs that fit. */
export interface RunsFilter extends RunsMatching {
  /** Only runs older than this run: the id of the last run of the page before. */
  readonly before?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

/** Which runs an action is for. An empty filter means all that the action fits. */
export type RunsToChange = RunsMatching

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
    const wanted = checkConditions('runs.list()', filter, ['before', 'limit'])
    const { before, limit = LIST_DEFAULT } = filter
    wholeNumber('runs.list()', 'limit', limit, 1, LIST_MAX)
    if (before !== undefined && !UUID.test(before)) {
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

  /** Cancels every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async cancelMany(
    filter: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkConditions('runs.cancelMany()', filter), options)
  }

  /** Pauses every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async pauseMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'pause', checkConditions('runs.pauseMany()', filter), options)
  }

  /** Resumes every run that fits the filter; without a status in it, all that are paused. Throws `invalid_option`. */
  async resumeMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'resume', checkConditions('runs.resumeMany()', filter), options)
  }

  /** Retries every run that fits the filter; without a status in it, all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'retry', checkConditions('runs.retryMany()', filter), options)
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

  #parts() {
    return { adapter: this.#adapter, control: this.#control }
  }
}

function checkCount(call: string, filter: RunsToCount) {
  const conditions = checkConditions(call, filter, ['max'])
  const { max = COUNT_DEFAULT } = filter
  return { ...conditions, max: wholeNumber(call, 'max', max, 1, COUNT_MAX) }
}
