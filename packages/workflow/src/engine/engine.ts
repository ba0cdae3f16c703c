import type { ChangedRun } from '../adapter/index.ts'
import type { InputOf, OutputsOf, ReceivesOf, WorkflowDefinition } from '../definition/index.ts'
import type { Duration } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { callback, checkArgument, checkOptions, oneOf } from '../options/index.ts'
import { DefinitionRegistry } from './base/definition-registry.ts'
import { type EngineEvents, EVENT_NAMES, EventHub, type EventListener } from './base/events.ts'
import { Meter } from './base/meter.ts'
import { PayloadCache } from './base/payload-cache.ts'
import { followNotices } from './base/store-notices.ts'
import { RUN_MANY_OPTIONS, STOP_OPTIONS } from './call-options.ts'
import { openCalls } from './calls.ts'
import { Control } from './control/control.ts'
import { Limits } from './control/limits.ts'
import type { ActionOptions } from './control/options.ts'
import { type DoctorOptions, type DoctorReport, doctor } from './diagnosis/doctor.ts'
import { Workers } from './diagnosis/worker-list.ts'
import { type QueueOverview, queueOverview } from './handles/queue.ts'
import { type RunOf, referTo } from './handles/referred-run.ts'
import { type KeyedRunHandle, type RunHandle, type RunHandleParts, runHandle } from './handles/run-handle.ts'
import { RunReports } from './handles/run-reports.ts'
import { RunVerbs } from './handles/run-verbs.ts'
import { Runs, type RunsParts } from './handles/runs.ts'
import { type NamedRunHandle, type RunByNameOptions, startRunByName } from './handles/start-by-name.ts'
import { Workflows } from './handles/workflows.ts'
import { checkEngineOptions, type EngineOptions, type EngineSettings } from './options.ts'
import { checkPruneOptions, type PruneOptions, type PruneReport, pruneRuns } from './retention/prune.ts'
import { findRun, type RunReference, runLookup } from './runs/run-reference.ts'
import { Schedules } from './schedules/schedules.ts'
import { Approvals } from './signals/approvals.ts'
import { Signals } from './signals/signals.ts'
import { type NewRunOf, type RunArguments, refuseOptionsAsInput } from './start/run-arguments.ts'
import type { RunOptions } from './start/run-options.ts'
import { type StartedHandle, type StartRunParts, startRun, startRuns } from './start/start-run.ts'
import { type Gauges, gaugesOf } from './worker/gauges.ts'
import { Working } from './working.ts'

/** Makes an engine. It does not connect to the store before its first call. Throws `invalid_option`. */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(checkEngineOptions(options))
}

/** Starts and observes runs. After start() it is also a worker that executes steps. Made by {@link createEngine}. */
export class Engine extends RunVerbs implements AsyncDisposable {
  /** Reads runs, and acts on many of them. */
  readonly runs: Runs
  /** The workflows that are stored, with their versions and graphs. */
  readonly workflows: Workflows
  /** The registry of workers and the steps they hold. */
  readonly workers: Workers
  /** Approvals that wait for a decision, across runs. */
  readonly approvals: Approvals
  /** Steps that wait for a signal, across runs. */
  readonly signals: Approvals
  /** Schedules that start runs at fixed times. */
  readonly schedules: Schedules
  /** How many steps and runs may be under way at once: looked at, and changed at run time. */
  readonly limits: Limits
  readonly #settings: EngineSettings
  readonly #events: EventHub
  readonly #meter: Meter
  readonly #payloads: PayloadCache
  readonly #registry: DefinitionRegistry
  readonly #reports: RunReports
  readonly #calls: ReturnType<typeof openCalls>
  readonly #control: Control
  readonly #signals: Signals
  readonly #handleParts: RunHandleParts
  readonly #working: Working
  readonly #stopNotices: () => void
  #closing: Promise<void> | undefined

  constructor(settings: EngineSettings) {
    super()
    const { adapter, log, runtime } = settings
    this.#settings = settings
    this.#events = new EventHub(log, runtime.context)
    this.#meter = new Meter(runtime.clock)
    this.#payloads = new PayloadCache(adapter)
    this.#registry = new DefinitionRegistry(settings)
    this.#reports = new RunReports({ events: this.#events, registry: this.#registry })
    const shared = { settings, events: this.#events, registry: this.#registry }
    this.#working = new Working({
      ...{ ...shared, meter: this.#meter },
      payloads: this.#payloads,
      onRunsChanged: (runs) => this.#runsChanged(runs),
      onPublished: (runId) => this.#calls.observer.changed(runId),
      onRecovered: (steps) => this.#reports.recovered(steps),
    })
    this.#calls = openCalls({ ...shared, working: this.#working })
    this.#control = this.#openControl()
    const refer: RunsParts['refer'] = (call, run) => this.refer(call, run)
    this.runs = new Runs({
      ...settings,
      ...{ registry: this.#registry, control: this.#control, refer, aside: this.#working.aside },
    })
    this.workflows = new Workflows(adapter, () => this.#assertOpen())
    this.workers = new Workers(adapter)
    this.schedules = this.#openSchedules()
    this.approvals = new Approvals(adapter, () => this.#assertOpen(), 'approval')
    this.signals = new Approvals(adapter, () => this.#assertOpen(), 'signal')
    this.limits = this.#openLimits()
    const onDelivered = (definitionId: number) => this.#working.wakeFor(definitionId)
    this.#signals = new Signals({ adapter, registry: this.#registry, settings, onDelivered })
    this.#handleParts = {
      adapter,
      registry: this.#registry,
      ...this.#calls,
      control: this.#control,
      signals: this.#signals,
    }
    this.#stopNotices = followNotices(adapter, { log, events: this.#events })
  }

  /**
   * Starts the worker: checks the store and the definitions, then claims and executes steps until `stop()`.
   *
   * @throws BelayError `definition_changed`, `schema_missing`, `schema_outdated`, `schema_too_new`, `store_misconfigured`, `store_unavailable`,
   * `store_contended`.
   */
  async start(): Promise<void> {
    this.#assertOpen()
    return this.#working.start({ starter: this.#calls.starter, control: this.#control })
  }

  /**
   * Starts a run. Once this resolves, the run and all its steps are stored. `workflow` is a definition or a name. By name, the input is checked if
   * this process has the definition; otherwise it is stored unchecked, and the handle's `checked` is false.
   *
   * @param options.key makes the start idempotent: a repeated start of the same workflow, with the same key and the same input before the schema,
   * returns the first run. That run may have an earlier version: see the handle's `version`.
   * @param options.tx makes the start part of the caller's transaction: the run is stored when it commits. `run.started` is not emitted.
   * @throws BelayError `invalid_input`, `payload_unserialisable`, `payload_too_large`, `key_conflict`, `definition_changed`, and the store's
   * errors; {@link LimitReachedError} if a limit of the workflow has `atLimit: 'refuse'` and no slot; by name also `unknown_workflow`.
   */
  run<W extends WorkflowDefinition>(
    workflow: W,
    ...options: RunArguments<InputOf<W>>
  ): Promise<RunHandle<OutputsOf<W>, ReceivesOf<W>>>
  run(workflow: string, input?: unknown, options?: RunByNameOptions): Promise<NamedRunHandle>
  // The overloads give the types of outputs and signals.
  async run(
    workflow: WorkflowDefinition | string,
    input?: unknown,
    given?: RunByNameOptions,
  ): Promise<unknown> {
    this.#assertOpen()
    const options = given === undefined ? {} : given
    if (typeof workflow !== 'string') {
      if (given === undefined) refuseOptionsAsInput(workflow, input)
      return this.#startedHandle(await startRun(this.#startParts(), workflow, input, options), options)
    }
    const started = await startRunByName(this.#startParts(), workflow, input, options)
    // The outputs have no known type, so any version fits.
    const handle: RunHandle = this.#startedHandle(started, options, started.version)
    return Object.assign(handle, { checked: started.checked })
  }

  /**
   * Starts many runs of one workflow, up to a thousand in one commit. All are checked before the first is stored. Handles are in order. If the
   * store refuses a run, or a limit does, the others still start: call again with the same keys to get their handles. With `options.tx` all runs,
   * or none, are stored when the caller's transaction commits; if the call throws, roll it back.
   *
   * @throws what `run()` throws, for the first run that fails.
   */
  async runMany<W extends WorkflowDefinition>(
    workflow: W,
    runs: readonly NewRunOf<InputOf<W>>[],
    options: Pick<RunOptions, 'tx'> = {},
  ): Promise<readonly RunHandle<OutputsOf<W>, ReceivesOf<W>>[]> {
    this.#assertOpen()
    const { tx } = checkOptions('runMany()', options, RUN_MANY_OPTIONS)
    const handleOf = (started: StartedHandle, index: number): RunHandle<OutputsOf<W>, ReceivesOf<W>> =>
      this.#startedHandle(started, { key: runs[index]?.key, tx })
    return startRuns(this.#startParts(), workflow, runs, handleOf, tx)
  }

  /**
   * Deletes runs that ended long enough ago, with their steps, signals and history, in batches that never hold up live runs. A pending `result()`
   * of such a run rejects with `unknown_run`.
   *
   * @throws BelayError `invalid_option`, and the store's errors; and what `archive` throws: nothing of that batch was deleted.
   */
  async prune(options: PruneOptions): Promise<PruneReport> {
    this.#assertOpen()
    const settings = checkPruneOptions(options)
    await this.#settings.adapter.open()
    return pruneRuns(
      { adapter: this.#settings.adapter, events: this.#events, registry: this.#registry },
      settings,
    )
  }

  /**
   * Finds reasons why runs do not progress: versions without a worker, parked and paused runs, dead workers, overdue steps, and states that should
   * be impossible. The cost grows with the number of live runs, not with the history.
   *
   * @throws BelayError `invalid_option`, `store_unavailable`. An unusable store is a finding, not an error.
   */
  async doctor(options?: DoctorOptions): Promise<DoctorReport> {
    this.#assertOpen()
    return doctor(this.#settings.adapter, options, this.#working.noticed)
  }

  /** What this engine's worker is doing at this moment: slots, what waits for them, the last calls to the store. From memory, without a call to the store. */
  gauges(): Gauges {
    return gaugesOf({ ...this.#settings, ...this.#working.gauged, meter: this.#meter })
  }

  /**
   * What waits in the store: steps that are ready and the age of the oldest, undos parked for an operator, and live runs by status. Two reads that count
   * up to 1,000, so the cost depends neither on the history nor on the backlog. The two may show different moments. Throws the store's errors.
   */
  async queue(): Promise<QueueOverview> {
    this.#assertOpen()
    return queueOverview(this.#settings.adapter)
  }

  /**
   * Moves a run to another version of its workflow. Allowed while none of its steps is running, if every step that has begun has the same name in
   * the new version, and no ended step depends there on a step that has not ended. Also allowed for a run that ended without completing, to retry
   * it with the new version. Resolves to false if the run already has that version.
   *
   * @throws BelayError `action_refused` that lists every obstacle, `unknown_run`, `definition_changed`.
   */
  async migrateRun(
    run: RunReference,
    workflow: WorkflowDefinition,
    options: ActionOptions = {},
  ): Promise<boolean> {
    this.#assertOpen()
    const lookup = runLookup('migrateRun()', run)
    const { runId } = 'runId' in lookup ? lookup : await findRun(this.#settings.adapter, lookup)
    return this.#control.migrate(runId, workflow, options)
  }

  /**
   * Calls `listener` for each event of this engine. Returns a function that removes it. Listeners run in the async context in which `start()`
   * was called; before that, in that of whatever causes the event. Nothing waits for them but `close()`, for a second, and their errors are logged.
   */
  on<Name extends keyof EngineEvents>(name: Name, listener: EventListener<Name>): () => void {
    checkArgument('on()', 'the event', name, oneOf(EVENT_NAMES))
    checkArgument('on()', 'the listener', listener, callback())
    return this.#events.on(name, listener)
  }

  /**
   * Stops the worker: claims nothing more and lets handlers end. After `timeout` (default 30 s) it signals them and releases their steps, which
   * counts no failure. The engine can still start and observe runs.
   */
  async stop(options: { readonly timeout?: Duration } = {}): Promise<void> {
    const { timeout: timeoutMs } = checkOptions('stop()', options, STOP_OPTIONS)
    return this.#working.stop(timeoutMs)
  }

  /**
   * Stops the worker, rejects pending `result()` and `step()` calls and watches, waits for listeners that returned a promise, a second at most, and closes the adapter. Takes at most about six seconds longer than the timeout, even if
   * the database does not answer: steps whose outcomes could not be recorded run again after the lease ends.
   */
  async close(options: { readonly timeout?: Duration } = {}): Promise<void> {
    const { timeout } = checkOptions('close()', options, STOP_OPTIONS)
    this.#closing ??= this.#close(timeout)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(timeout: number): Promise<void> {
    await this.stop({ timeout })
    await Promise.all([this.#calls.close(), this.#events.settled()])
    await this.#settings.adapter.close()
    this.#stopNotices()
  }

  #openSchedules(): Schedules {
    const [assertOpen, onChanged] = [() => this.#assertOpen(), () => this.#working.wake()]
    return new Schedules({ ...this.#working.firing, assertOpen, onChanged })
  }

  #openLimits(): Limits {
    const assertOpen = () => this.#assertOpen()
    return new Limits(this.#settings.adapter, assertOpen, () => this.#working.wake())
  }

  #openControl(): Control {
    return new Control({
      ...this.#settings,
      registry: this.#registry,
      events: this.#events,
      assertOpen: () => this.#assertOpen(),
      onRunsChanged: (runs) => this.#runsChanged(runs),
      onMoved: (runId) => this.#payloads.forget(runId),
      onStopped: (runIds) => this.#working.runsStopped(runIds),
      onQueued: () => this.#working.wake(),
    })
  }

  #startParts(): StartRunParts {
    return {
      adapter: this.#settings.adapter,
      registry: this.#registry,
      payloads: this.#payloads,
      ...this.#calls,
      settings: this.#settings,
    }
  }

  /** Makes the handle of a started run. Emits `run.started` unless a caller's transaction must still commit. */
  #startedHandle<Outputs, Sent>(
    { id, created, definition, version, taken, collected, tags = [] }: StartedHandle,
    { key, tx }: Pick<RunOptions, 'key'> & { readonly tx?: unknown },
    typedBy: number = definition.version,
  ): RunHandle<Outputs, Sent> {
    if (created && tx === undefined)
      this.#events.emit('run.started', { runId: id, workflow: definition.name, version, key, tags })
    if (!taken && tx === undefined) this.#working.wakeFor(definition.id)
    if (created)
      this.#working.created({ runId: id, workflow: definition.name, version, definitionId: definition.id })
    return runHandle(this.#handleParts, { id, created, version, typedBy, collected })
  }

  #runsChanged(runs: readonly ChangedRun[]): void {
    for (const run of runs) if (run.status !== 'compensating') this.#payloads.forget(run.runId)
    this.#reports.changed(runs)
    this.#calls.watch.changed(runs)
    for (const { runId } of runs) this.#calls.observer.changed(runId)
  }

  protected refer(call: string, run: RunReference | RunOf): RunHandle | KeyedRunHandle {
    const parts = {
      ...this.#handleParts,
      handleOn: (id: string): RunHandle => runHandle(this.#handleParts, { id, created: false }),
      assertOpen: () => this.#assertOpen(),
    }
    return referTo(parts, call, run)
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) {
      const remedy = 'Make another one with createEngine().'
      throw new BelayError('engine_closed', 'This engine is closed.', { remedy })
    }
  }
}
