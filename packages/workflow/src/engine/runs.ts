import type { Adapter, RunStatus } from '../adapter/index.ts'
import { RUN_TRANSITIONS } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
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

/** Reads runs of any process. */
export class Runs {
  readonly #adapter: Adapter
  readonly #handle: (id: string) => RunHandle

  constructor(adapter: Adapter, handle: (id: string) => RunHandle) {
    this.#adapter = adapter
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
    const { workflow, key, before, limit = LIST_DEFAULT } = filter
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
    const status = filter.status === undefined ? undefined : [filter.status].flat()
    for (const name of status ?? []) checkStatus(name)
    await this.#adapter.open()
    return (await this.#adapter.listRuns({ workflow, status, key, before, limit })).map(runSummary)
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
}

function checkStatus(status: string): void {
  if (status in RUN_TRANSITIONS) return
  throw new BelayError(
    'invalid_option',
    `runs.list(): there is no status "${status}". It is one of ${Object.keys(RUN_TRANSITIONS).join(', ')}.`,
  )
}
