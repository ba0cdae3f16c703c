import type { Adapter, RunStatus } from '../adapter/index.ts'
import { RUN_TRANSITIONS } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import {
  checkFilter,
  id,
  type Kind,
  key,
  name,
  type OptionTable,
  oneOrSomeOf,
  Refusal,
  readAs,
  wholeNumber,
  yesOrNo,
} from '../options/index.ts'
import { shown } from '../shown.ts'
import { actOnMany, type BulkOptions, type BulkResult, cancelMany } from './control/bulk.ts'
import type { Control } from './control/control.ts'
import type { RunHistoryEntry } from './control/history.ts'
import type { BulkFilter, Selection } from './control/selected-runs.ts'
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

/**
 * Which runs an action is for: those that fit a filter that narrows them down, those that a list names, or with `{ all: true }` every run that
 * the action fits.
 */
export type RunsToChange =
  | Pick<RunsFilter, 'workflow' | 'status' | 'key'>
  | readonly RunReference[]
  | { readonly all: true }

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
    const wanted = checkFilter('runs.list()', filter, LIST_FILTER)
    await this.#adapter.open()
    return (await this.#adapter.listRuns(wanted)).map(runSummary)
  }

  /** Cancels every run that fits a filter, or that a list names; a filter without a status means all that go forward. Throws `invalid_option`. */
  async cancelMany(
    runs: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkSelection('runs.cancelMany()', runs), options)
  }

  /** Pauses every run that fits a filter, or that a list names; a filter without a status means all that go forward. Throws `invalid_option`. */
  async pauseMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'pause', checkSelection('runs.pauseMany()', runs), options)
  }

  /** Resumes every run that fits a filter, or that a list names; a filter without a status means all that are paused. Throws `invalid_option`. */
  async resumeMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'resume', checkSelection('runs.resumeMany()', runs), options)
  }

  /** Retries every run that fits a filter, or that a list names; a filter without a status means all that failed, undone or not. Throws `invalid_option`. */
  async retryMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return actOnMany(this.#parts(), 'retry', checkSelection('runs.retryMany()', runs), options)
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

function checkSelection(call: string, runs: RunsToChange): Selection {
  const references = readAs(REFERENCES, runs)
  if (Refusal.is(references)) return checkBulkFilter(call, runs)
  return references.map((run) => runLookup(call, run as RunReference))
}

const REFERENCES: Kind<readonly unknown[]> = {
  words: 'a list of runs',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
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
