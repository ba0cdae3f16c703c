import type { Adapter, RunStatus } from '../adapter/index.ts'
import { RUN_TRANSITIONS } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import {
  anyString,
  checkArgument,
  checkFilter,
  id,
  key,
  name,
  type OptionTable,
  oneOrSomeOf,
  wholeNumber,
  yesOrNo,
} from '../options/index.ts'
import { actOnMany, type BulkFilter, type BulkOptions, type BulkResult, cancelMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from './release-keys.ts'
import type { RunHandle } from './run-handle.ts'
import { type RunSnapshot, type RunSummary, runSnapshot, runSummary } from './run-snapshot.ts'

const STATUSES = Object.keys(RUN_TRANSITIONS) as readonly RunStatus[]
const LIST_DEFAULT = 50
const LIST_MAX = 1_000

const FILTER = {
  workflow: { sets: 'whose runs', takes: name, narrows: true },
  status: { sets: 'where the runs stand', takes: oneOrSomeOf(STATUSES), narrows: true },
  key: { sets: 'the key of the run', takes: key, narrows: true },
} satisfies OptionTable

const LIST_FILTER = {
  ...FILTER,
  before: { sets: 'the last run of the page before', takes: id('run') },
  limit: { sets: 'how many runs are read at most', takes: wholeNumber(1, LIST_MAX), default: LIST_DEFAULT },
} satisfies OptionTable

const CHANGE_FILTER = {
  ...FILTER,
  all: { sets: 'that every run is meant', takes: yesOrNo },
} satisfies OptionTable

export interface RunsFilter {
  readonly workflow?: string
  readonly status?: RunStatus | readonly RunStatus[]
  readonly key?: string
  /** Only runs older than this run: the id of the last run of the page before. */
  readonly before?: string | undefined
  /** 1 to 1,000; default 50. */
  readonly limit?: number | undefined
}

/** Which runs an action is for: a filter that narrows them down, or `{ all: true }` for every run that the action fits. */
export type RunsToChange = Pick<RunsFilter, 'workflow' | 'status' | 'key'> | { readonly all: true }

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
  async get(runId: string): Promise<RunSnapshot | undefined> {
    checkArgument('runs.get()', 'the run', runId, anyString)
    // A string that is no uuid names no run; asking PostgreSQL would be an error instead of an answer.
    if (id('run').read(runId) !== runId) return undefined
    await this.#adapter.open()
    const found = await this.#adapter.readRun(runId)
    return found === null ? undefined : runSnapshot(found)
  }

  /** Runs, newest first, one page at a time. Throws `invalid_option`. */
  async list(filter: RunsFilter = {}): Promise<readonly RunSummary[]> {
    const wanted = checkFilter('runs.list()', filter, LIST_FILTER)
    await this.#adapter.open()
    return (await this.#adapter.listRuns(wanted)).map(runSummary)
  }

  /** Cancels every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async cancelMany(
    filter: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkBulkFilter('runs.cancelMany()', filter), options)
  }

  /** Pauses every run that fits the filter; without a status in it, all that go forward. Throws `invalid_option`. */
  async pauseMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'pause', checkBulkFilter('runs.pauseMany()', filter), options)
  }

  /** Resumes every run that fits the filter; without a status in it, all that are paused. Throws `invalid_option`. */
  async resumeMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'resume', checkBulkFilter('runs.resumeMany()', filter), options)
  }

  /** Retries every run that fits the filter; without a status in it, all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(filter: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'retry', checkBulkFilter('runs.retryMany()', filter), options)
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
  handle<Outputs = Readonly<Record<string, unknown>>>(runId: string): RunHandle<Outputs> {
    return this.#handle(checkArgument('runs.handle()', 'the run', runId, id('run'))) as RunHandle<Outputs>
  }

  #parts() {
    return { adapter: this.#adapter, control: this.#control }
  }
}

/** A bulk verb without a narrowing filter acts on every run only when that is said. */
function checkBulkFilter(call: string, filter: unknown): BulkFilter {
  const { all, ...narrowing } = checkFilter(call, filter, CHANGE_FILTER)
  const names = Object.keys(narrowing)
  if (all === true && names.length > 0) {
    throw new BelayError('invalid_option', `${call}: all and ${names[0]} are both given. Keep one of them.`)
  }
  if (all === true || names.length > 0) return narrowing
  throw new BelayError(
    'invalid_option',
    `${call}: the filter is empty, and would fit every run. Narrow it with ${Object.keys(FILTER).join(', ')}, or say { all: true } when every run is meant.`,
  )
}
