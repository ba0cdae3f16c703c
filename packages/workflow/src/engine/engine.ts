import type { Adapter, RunStatus, SavedDefinition } from '../adapter/index.ts'
import type { RunCause } from '../cause.ts'
import type { InputOf, OutputsOf, WorkflowDefinition } from '../definition/index.ts'
import { type Duration, durationMs } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { DefinitionRegistry } from './definition-registry.ts'
import { type EngineEvents, EventHub, type EventListener } from './events.ts'
import { checkEngineOptions, type EngineOptions, type EngineSettings } from './options.ts'
import { OutageWatch } from './outage.ts'
import { PayloadCache } from './payload-cache.ts'
import { type RunHandle, runHandle } from './run-handle.ts'
import { RunStarter } from './run-starter.ts'
import { RunWatch } from './run-watch.ts'
import { Runs } from './runs.ts'
import { type RunOptions, type StartedHandle, type StartRunParts, startRun, startRuns } from './start-run.ts'
import { Worker } from './worker.ts'

/** Makes an engine. It touches the store first when it is started or asked for something. Throws `invalid_option`. */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(checkEngineOptions(options))
}

/** What follows the workflow in `run()`: its input, which may be left out where it may be undefined, and options. */
export type RunArguments<Input> = undefined extends Input
  ? [input?: Input, options?: RunOptions]
  : [input: Input, options?: RunOptions]

/** One run of `runMany()`: its input, which may be left out where it may be undefined, and its key. */
export type NewRunOf<Input> = Omit<RunOptions, 'tx'> &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

/** Starts and follows runs; once started, it is also a worker that runs steps. Made by {@link createEngine}. */
export class Engine implements AsyncDisposable {
  /** Runs as the store holds them. */
  readonly runs: Runs
  readonly #settings: EngineSettings
  readonly #adapter: Adapter
  readonly #events: EventHub
  readonly #payloads: PayloadCache
  readonly #registry: DefinitionRegistry
  readonly #starter: RunStarter
  readonly #watch: RunWatch
  #worker: Worker | undefined
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(settings: EngineSettings) {
    const { adapter, log, runtime, tickMs } = settings
    this.#settings = settings
    this.#adapter = adapter
    this.#events = new EventHub(log)
    this.#payloads = new PayloadCache(adapter)
    this.#registry = new DefinitionRegistry(adapter)
    const outage = (during: string) =>
      new OutageWatch({ during, log, events: this.#events, random: runtime.random })
    this.#starter = new RunStarter({ adapter, runtime, outage: outage('starting runs') })
    this.#watch = new RunWatch({ adapter, runtime, tickMs, outage: outage('awaiting runs') })
    this.runs = new Runs(adapter, (id) => this.#handle(id, false))
  }

  /**
   * Becomes a worker: checks the store and the definitions, then claims and runs steps until `stop()`.
   *
   * @throws BelayError `definition_changed`, `schema_missing`, `schema_outdated`, `schema_too_new`, `store_misconfigured`, `store_unavailable`.
   */
  start(): Promise<void> {
    this.#assertOpen()
    this.#starting ??= this.#startWorker().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /**
   * Starts a run. Once this resolves, the run and all its steps are stored.
   *
   * @param options.key makes the start idempotent: the same key of the same workflow with the same input returns the first run.
   * @param options.tx makes the run part of a transaction of the caller's: it is stored when that commits. `run.started` is not told then.
   * @throws BelayError `invalid_input`, `payload_unserialisable`, `payload_too_large`, `key_conflict`, `definition_changed`, and the store's.
   */
  async run<W extends WorkflowDefinition>(
    workflow: W,
    ...[input, options = {}]: RunArguments<InputOf<W>>
  ): Promise<RunHandle<OutputsOf<W>>> {
    this.#assertOpen()
    const started = await startRun(this.#startParts(), workflow, input, options)
    if (options.tx !== undefined) return this.#handle(started.id, started.created)
    return this.#follow(workflow, started, options.key)
  }

  /**
   * Starts many runs of one workflow, a thousand in one commit. All are checked before the first is stored; handles are in order.
   * When one is refused, the others are started all the same: call again with the same keys to get their handles.
   * With `options.tx` they are part of a transaction of the caller's, all or none.
   *
   * @throws what `run()` throws, for the first run that it is thrown for.
   */
  async runMany<W extends WorkflowDefinition>(
    workflow: W,
    runs: readonly NewRunOf<InputOf<W>>[],
    { tx }: Pick<RunOptions, 'tx'> = {},
  ): Promise<readonly RunHandle<OutputsOf<W>>[]> {
    this.#assertOpen()
    const handleOf = (started: StartedHandle, index: number): RunHandle<OutputsOf<W>> =>
      tx === undefined
        ? this.#follow(workflow, started, runs[index]?.key)
        : this.#handle(started.id, started.created)
    return startRuns(this.#startParts(), workflow, runs, handleOf, tx)
  }

  /** Calls back on everything that happens in this engine. Returns how to stop it. A listener that throws is logged. */
  on<Name extends keyof EngineEvents>(name: Name, listener: EventListener<Name>): () => void {
    return this.#events.on(name, listener)
  }

  /**
   * Stops working: claims nothing more, lets handlers end, and after `timeout` (default 30 s) signals them and gives their steps back
   * without spending an attempt. The engine can still start and follow runs.
   */
  async stop(options: { readonly timeout?: Duration } = {}): Promise<void> {
    const timeoutMs = durationMs(options.timeout ?? '30s', 'timeout')
    await this.#starting?.catch(() => {})
    const worker = this.#worker
    this.#worker = undefined
    this.#starting = undefined
    await worker?.stop(timeoutMs)
  }

  /** Stops, rejects whoever still awaits a run, and closes the adapter. */
  close(options: { readonly timeout?: Duration } = {}): Promise<void> {
    this.#closing ??= (async () => {
      await this.stop(options)
      await this.#watch.close()
      await this.#adapter.close()
    })()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #startParts(): StartRunParts {
    return {
      adapter: this.#adapter,
      registry: this.#registry,
      payloads: this.#payloads,
      starter: this.#starter,
      settings: this.#settings,
    }
  }

  #follow<Outputs>(
    { name, version }: WorkflowDefinition,
    { id, created, definition }: StartedHandle,
    key: string | undefined,
  ): RunHandle<Outputs> {
    if (created) {
      this.#events.emit('run.started', { runId: id, workflow: name, version, key })
      this.#wakeFor(definition)
    }
    return this.#handle(id, created)
  }

  async #startWorker(): Promise<void> {
    const { workflows, log } = this.#settings
    await this.#adapter.open()
    const definitions = await this.#registry.saveAll(workflows)
    const runnable = new Map<number, WorkflowDefinition>()
    for (const [id, workflow] of definitions) {
      if (workflow.runnable) runnable.set(id, workflow)
      else log.info('Registered for triggering only: it has no handlers.', { workflow: workflow.name })
    }
    if (runnable.size === 0) log.warn('This worker has no workflow to run. Give createEngine() `workflows`.')
    const worker = new Worker({
      ...this.#settings,
      events: this.#events,
      payloads: this.#payloads,
      definitions: runnable,
      onRunsChanged: (runs) => this.#runsChanged(runs),
    })
    await worker.start()
    this.#worker = worker
  }

  #runsChanged(runs: readonly { readonly runId: string; readonly status: RunStatus }[]): void {
    for (const run of runs) {
      if (run.status !== 'compensating') this.#payloads.forget(run.runId)
      this.#events.runChanged(run)
    }
    this.#watch.changed(runs)
  }

  /** A new run's first steps are ready: for this worker if it can take them, else for others. */
  #wakeFor(definition: SavedDefinition): void {
    const worker = this.#worker
    if (worker?.runs(definition.id) && worker.hasRoom) worker.wake()
    else this.#adapter.wake()
  }

  #handle<Outputs>(id: string, created: boolean): RunHandle<Outputs> {
    return runHandle(
      {
        adapter: this.#adapter,
        watch: this.#watch,
        cancel: (runId, reason) => this.#cancel(runId, reason),
      },
      { id, created },
    )
  }

  async #cancel(runId: string, reason: string | undefined): Promise<boolean> {
    this.#assertOpen()
    const cause: RunCause = { type: 'cancelled', reason }
    await this.#adapter.open()
    const stopped = await this.#adapter.cancelRuns({ runIds: [runId], cause: JSON.stringify(cause) })
    if (stopped.length === 0) {
      const known = await this.#adapter.readStatuses([runId])
      if (known.length === 0)
        throw new BelayError('unknown_run', `There is no run ${runId} to cancel.`, { runId })
      return false
    }
    this.#runsChanged([{ runId, status: 'compensating' }])
    this.#worker?.runsStopped([runId])
    return true
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) {
      throw new BelayError('engine_closed', 'This engine was closed. Make another with createEngine().')
    }
  }
}
