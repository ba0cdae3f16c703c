import type { Adapter, RunFilter } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { id, type OptionTable, wholeNumber, yesOrNo } from '../../options/index.ts'
import type { SetAside } from '../base/set-aside.ts'
import { actOnMany, type BulkOptions, cancelMany, migrateMany } from '../control/bulk.ts'
import type { BulkResult } from '../control/bulk-result.ts'
import type { Control } from '../control/control.ts'
import {
  type DropOptions,
  type DropParts,
  type DroppedRuns,
  dropForgotten,
} from '../control/drop-forgotten.ts'
import type { RunHistoryEntry } from '../control/history.ts'
import { checkPriority, checkStepArgument, type WithinActionOptions } from '../control/options.ts'
import { type ReleasedKeys, type ReleaseKeysOptions, releaseKeys } from '../retention/release-keys.ts'
import { callsOf } from '../runs/collected-calls.ts'
import { type CountedByStatus, type CountedRuns, countedByStatus } from '../runs/counted-runs.ts'
import { checkItemsPage, type ItemsPage, readPage } from '../runs/items-page.ts'
import { listPage } from '../runs/list-runs.ts'
import { type RunAttempt, readRunAttempts } from '../runs/run-attempt.ts'
import {
  isNamedBy,
  isRunId,
  type OutputsAt,
  type RunReference,
  runLookup,
  type SentTo,
} from '../runs/run-reference.ts'
import { type RunSnapshot, type RunSummary, runSnapshot } from '../runs/run-snapshot.ts'
import { checkConditions, type RunsMatching } from '../runs/runs-filter.ts'
import type { RunWithSteps } from '../runs/step-states.ts'
import { type ExportedRun, exportRuns, type RunsToExport } from './export-runs.ts'
import type { HandleOn } from './handle-on.ts'
import type { RunOf } from './referred-run.ts'
import type { KeyedRunHandle, RunHandle } from './run-handle.ts'
import { checkSelection, type RunsToChange } from './runs-to-change.ts'

const LIST_DEFAULT = 50
const LIST_MAX = 1_000
const COUNT_DEFAULT = 10_000
const COUNT_MAX = 1_000_000

/** With their steps, fewer runs are listed: a map may have tens of thousands of items to count. */
const LIST_WITH_STEPS_MAX = 100

const LIST_OPTIONS = {
  before: { sets: 'the last run of the previous page', takes: id('run') },
  after: { sets: 'the first run of the next page', takes: id('run') },
  steps: { sets: 'whether the states of the steps are read', takes: yesOrNo, default: false },
  limit: { sets: 'how many runs are read at most', takes: wholeNumber(1, LIST_MAX), default: LIST_DEFAULT },
} satisfies OptionTable

const COUNT_OPTIONS = {
  max: { sets: 'the largest count', takes: wholeNumber(1, COUNT_MAX), default: COUNT_DEFAULT },
} satisfies OptionTable

/** A filter, and which page of the matching runs to read. */
export interface RunsFilter extends RunsMatching {
  /** Only runs older than this run. Give the id of the previous page's last run. */
  readonly before?: string | undefined
  /** Only runs newer than this run, and of these the oldest. Give the id of the first run on a page to go back to the page before it. Not with `before`. */
  readonly after?: string | undefined
  /** 1 to 1,000, with `steps` to 100; default 50. */
  readonly limit?: number | undefined
  /** Adds the state of each step, from the same snapshot. Default false. */
  readonly steps?: boolean | undefined
}

/** Which runs to count. */
export interface RunsToCount extends RunsMatching {
  /** Counts no further than this, 1 to 1,000,000; default 10,000. */
  readonly max?: number
}

function checkPage({ before, after, limit, steps }: RunFilter): void {
  if (before !== undefined && after !== undefined) {
    throw new BelayError('invalid_option', 'runs.list(): give before or after, not both.')
  }
  if (steps === true && limit > LIST_WITH_STEPS_MAX) {
    throw new BelayError(
      'invalid_option',
      `runs.list(): with steps, limit must be a whole number from 1 to ${LIST_WITH_STEPS_MAX}, got ${limit}.`,
    )
  }
}

/** Makes a handle on the run that a reference names. `call` names the called function in errors. */
type RunReferrer = (call: string, run: RunReference | RunOf) => RunHandle | KeyedRunHandle

export interface RunsParts extends DropParts {
  readonly aside: SetAside
  readonly refer: RunReferrer
}

/** Reads runs of any process, and acts on many of them. */
export class Runs {
  readonly #adapter: Adapter
  readonly #control: Control
  readonly #refer: RunReferrer
  readonly #dropping: DropParts
  readonly #aside: SetAside

  constructor(parts: RunsParts) {
    this.#adapter = parts.adapter
    this.#control = parts.control
    this.#refer = parts.refer
    this.#dropping = parts
    this.#aside = parts.aside
  }

  /**
   * One run with its steps and the first items of its maps, or those that `items` names; undefined if there is no such run. Throws `invalid_option`
   * for an invalid reference or page.
   */
  async get(
    run: RunReference,
    options: { readonly items?: ItemsPage | undefined } = {},
  ): Promise<RunSnapshot | undefined> {
    const page = checkItemsPage('runs.get()', options)
    if (typeof run === 'string' && !isRunId(run)) return undefined
    const lookup = runLookup('runs.get()', run)
    await this.#adapter.open()
    const named = 'runId' in lookup ? lookup : await this.#adapter.findRun(lookup)
    const found = named === null ? null : await readPage(this.#dropping, named.runId, page)
    if (found === null || !isNamedBy(lookup, found.run)) return undefined
    return { ...runSnapshot(found), ...(await callsOf(this.#adapter, found.run)) }
  }

  /**
   * Runs, newest first, one page at a time. A run that cannot be read, because its row was damaged, is left out: the log and `doctor()` name it. Throws
   * `invalid_option`.
   */
  list(filter: RunsFilter & { readonly steps: true }): Promise<readonly RunWithSteps[]>
  list(filter?: RunsFilter): Promise<readonly RunSummary[]>
  async list(filter: RunsFilter = {}): Promise<readonly RunSummary[]> {
    const wanted = checkConditions('runs.list()', filter, LIST_OPTIONS)
    checkPage(wanted)
    await this.#adapter.open()
    return listPage({ ...this.#dropping, aside: this.#aside }, wanted)
  }

  /**
   * Iterates over matching runs with their steps, items, kept attempts and history, newest first. Reads one run at a time, so that an export takes
   * little from running steps; a run that cannot be read is left out, as by `list()`. Throws `invalid_option`.
   *
   * @param filter.payloads adds inputs, outputs, values, payloads of signals and the messages of errors. Default false: they may be private.
   */
  export(filter: RunsToExport = {}): AsyncIterableIterator<ExportedRun> {
    return exportRuns({ ...this.#dropping, aside: this.#aside }, filter)
  }

  /** Counts matching runs, up to `max`, which also bounds the cost. Throws `invalid_option`. */
  async count(filter: RunsToCount = {}): Promise<CountedRuns> {
    const request = checkConditions('runs.count()', filter, COUNT_OPTIONS)
    await this.#adapter.open()
    const [counted] = await this.#adapter.countRuns({ ...request, byStatus: false })
    const { count, capped } = counted!
    return { count, capped }
  }

  /**
   * Counts matching runs by status, each up to `max`. Statuses without runs are left out. `scheduled`, `running` and `waiting` are computed for the
   * newest `max` of these runs together; if there are more, all three are `capped`. Throws `invalid_option`.
   */
  async countByStatus(filter: RunsToCount = {}): Promise<CountedByStatus> {
    const request = checkConditions('runs.countByStatus()', filter, COUNT_OPTIONS)
    await this.#adapter.open()
    const counts = await this.#adapter.countRuns({ ...request, byStatus: true })
    return countedByStatus(counts)
  }

  /**
   * Cancels the runs that match a filter or are in a list. A filter without a status selects runs that go forward or are paused. Throws
   * `invalid_option`.
   */
  async cancelMany(
    runs: RunsToChange,
    options: BulkOptions & { readonly compensate?: boolean } = {},
  ): Promise<BulkResult> {
    return cancelMany(this.#parts(), checkSelection('runs.cancelMany()', runs), options)
  }

  /** Pauses the runs that match a filter or are in a list. A filter without a status selects runs that go forward. Throws `invalid_option`. */
  async pauseMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('runs.pauseMany()', { type: 'pause' }, runs, options)
  }

  /** Resumes the runs that match a filter or are in a list. A filter without a status selects paused runs. Throws `invalid_option`. */
  async resumeMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('runs.resumeMany()', { type: 'resume' }, runs, options)
  }

  /** Gives a run another priority, a whole number from 0 to 1,000. See {@link RunHandle.setPriority}. */
  async setPriority(run: RunReference, priority: number, options?: WithinActionOptions): Promise<boolean> {
    return this.#refer('runs.setPriority()', run).setPriority(priority, options)
  }

  /**
   * Gives the runs that match a filter or are in a list another priority. A filter without a status selects runs that go forward or are paused.
   * Throws `invalid_option`.
   */
  async setPriorityMany(
    runs: RunsToChange,
    priority: number,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    const call = 'runs.setPriorityMany()'
    const action = { type: 'set_priority', priority: checkPriority(call, priority) } as const
    return this.#actOnMany(call, action, runs, options)
  }

  /**
   * Retries the runs that match a filter or are in a list. A filter without a status selects `failed` and `compensated` runs. Throws
   * `invalid_option`.
   */
  async retryMany(runs: RunsToChange, options: BulkOptions = {}): Promise<BulkResult> {
    return this.#actOnMany('runs.retryMany()', { type: 'retry' }, runs, options)
  }

  /**
   * Moves the runs that match a filter or are in a list to this version of their workflow, like `engine.migrateRun()`. A filter without a workflow
   * selects runs of this workflow; one without a status, runs that go forward or are paused. Runs that already have the version count as matched,
   * not changed.
   *
   * @throws BelayError `invalid_option`, `unknown_workflow`, `definition_changed`.
   */
  async migrateMany(
    runs: RunsToChange,
    workflow: WorkflowDefinition,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return migrateMany(this.#parts(), checkSelection('runs.migrateMany()', runs), workflow, options)
  }

  /**
   * Calls this step's compensation again in the runs that match a filter or are in a list. A filter without a status selects parked runs. If a
   * run's undo is under way, the next try runs now. Throws `invalid_option`.
   */
  async retryCompensationMany(
    runs: RunsToChange,
    step: string,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return this.#actOnMany(
      'runs.retryCompensationMany()',
      { type: 'retry_compensation', step },
      runs,
      options,
    )
  }

  /**
   * Marks this step as undone in the runs that match a filter or are in a list. A filter without a status selects parked runs. Throws
   * `invalid_option`.
   */
  async skipCompensationMany(
    runs: RunsToChange,
    step: string,
    options: BulkOptions = {},
  ): Promise<BulkResult> {
    return this.#actOnMany('runs.skipCompensationMany()', { type: 'skip_compensation', step }, runs, options)
  }

  /**
   * Ends the live runs of forgotten versions: those that neither this engine nor any live worker has. **Nothing is undone**: every effect of their
   * steps stays, because the code that could undo it is gone. Their keys are released, the parents of children that are dropped go on, and children
   * of runs that are dropped are left alone. Only in development mode, and by default only of the workflows that this engine has.
   *
   * @throws BelayError `action_refused` without development mode, `invalid_option`, and the store's errors.
   */
  dropForgotten(options: DropOptions = {}): Promise<DroppedRuns> {
    return dropForgotten(this.#dropping, options)
  }

  /** The actions of operators on a run and the signals it received, oldest first: see `RunHandle.history()`. Throws `unknown_run`. */
  async history(
    run: RunReference,
    options?: { readonly limit?: number },
  ): Promise<readonly RunHistoryEntry[]> {
    return this.#refer('runs.history()', run).history(options)
  }

  /**
   * The kept attempts of a run, in the order in which they ended: those that engines with the option `attempts: 'keep'` ended, of both directions
   * and all rounds. `limit` reads only the newest, 1 to 10,000; default 200. Throws `unknown_run`, `invalid_option`.
   */
  async attempts(
    run: RunReference,
    options: { readonly limit?: number } = {},
  ): Promise<readonly RunAttempt[]> {
    return readRunAttempts(this.#adapter, runLookup('runs.attempts()', run), options)
  }

  /**
   * Releases the keys of runs that ended long enough ago: a start with such a key then creates a new run. Works in batches, like `engine.prune()`.
   *
   * @throws BelayError `invalid_option`, and the store's errors.
   */
  releaseKeys(options: ReleaseKeysOptions): Promise<ReleasedKeys> {
    return releaseKeys(this.#adapter, options)
  }

  /**
   * A handle on a run started elsewhere. Given the definition, with an id or a key, the handle has the run's types. It does not check that the run
   * exists; its methods do. The types are those of the definition's version, but the run may have another: see `status()`.
   *
   * @throws BelayError `invalid_option` for an invalid reference.
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
  // The overloads give the types of outputs and signals; at run time every handle accepts any.
  handle(first: RunReference | WorkflowDefinition, run?: string | { readonly key: string }): unknown {
    if (run === undefined) return this.#refer('runs.handle()', first as RunReference)
    return this.#refer('runs.handle()', { of: first as WorkflowDefinition | string, run })
  }

  async #actOnMany(
    call: string,
    action: Parameters<typeof actOnMany>[2],
    runs: RunsToChange,
    options: BulkOptions,
  ): Promise<BulkResult> {
    if ('step' in action) checkStepArgument(call, action.step)
    return actOnMany(this.#parts(), call, action, checkSelection(call, runs), options)
  }

  #parts() {
    return { adapter: this.#adapter, control: this.#control }
  }
}
