import type { Adapter, ChangedRun, NewRun, StartedRun } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { Apart } from './base/apart.ts'
import { hasChildren } from './base/child-steps.ts'
import { declaredLimits } from './base/declared-limits.ts'
import type { DefinitionRegistry } from './base/definition-registry.ts'
import type { EventHub } from './base/events.ts'
import type { Meter } from './base/meter.ts'
import type { PayloadCache } from './base/payload-cache.ts'
import { within } from './base/runtime.ts'
import { SetAside } from './base/set-aside.ts'
import { StoreHistory } from './base/store-history.ts'
import { isTransactional } from './base/transactional.ts'
import { withFollowUps } from './base/with-follow-ups.ts'
import { type FamilyParts, familyOf } from './children/family.ts'
import { tellMode } from './development.ts'
import { followUps } from './follow-ups.ts'
import type { EngineSettings } from './options.ts'
import { queuedFirings } from './queued-firings.ts'
import { lostDefinitions, restoreMissing } from './restore.ts'
import { Retention } from './retention/retention.ts'
import { type OwnWorker, type Served, WorkerLookout } from './runs/worker-lookout.ts'
import { storeDeclared } from './schedules/declared.ts'
import { type FirerParts, fireDue } from './schedules/firing.ts'
import type { GaugedWorker } from './worker/gauges.ts'
import { Worker, type WorkerParts } from './worker/worker.ts'

/** How long stopping waits for a running round of pruning, in addition to the worker's timeout. */
const ROUND_MS = 1_000

export interface WorkingParts {
  readonly settings: EngineSettings
  readonly events: EventHub
  readonly payloads: PayloadCache
  readonly registry: DefinitionRegistry
  readonly meter: Meter
  readonly onRunsChanged: (runs: readonly ChangedRun[]) => void
  readonly onRecovered: WorkerParts['onRecovered']
  readonly onPublished: WorkerParts['onPublished']
}

/** What the worker starts and controls children with. */
type Acting = Pick<FamilyParts, 'starter' | 'control'>

/** The engine's background work between `start()` and `stop()`: its worker and its retention. */
export class Working {
  readonly history: StoreHistory
  /** What the store refuses while it accepts others. */
  readonly aside: SetAside
  /** Warns of runs for which no worker lives. */
  readonly lookout: WorkerLookout
  readonly #parts: WorkingParts
  #worker: Worker | undefined
  /** The worker that is being stopped. */
  #leaving: Worker | undefined
  #retention: Retention | undefined
  #starting: Promise<void> | undefined
  readonly #apart: Apart
  /** What the worker runs, by the store's number. */
  #definitions: Map<number, WorkflowDefinition> = new Map()
  #restoring: Promise<void> | undefined

  constructor(parts: WorkingParts) {
    this.#parts = parts
    const { settings, events, payloads } = parts
    const { log, runtime } = settings
    this.#apart = new Apart(runtime)
    this.aside = new SetAside({ log, clock: runtime.clock, events })
    this.history = new StoreHistory(settings, events, () => this.#wentBack())
    parts.registry.onLost = () => this.history.lostDefinition()
    // While it cannot be reached, a standby may take its place that has another outcome for a step than this process remembers.
    events.on('store.unavailable', () => payloads.clear())
    this.lookout = new WorkerLookout({ ...parts.settings, ownWorker: () => this.#state })
  }

  /** What this process knows besides the store, for `doctor()`. */
  get noticed() {
    return { dev: this.#parts.settings.dev, setBack: this.history.recent, aside: this.aside.list() }
  }

  /** Starts the worker. Concurrent and later calls share one start, until it fails or the worker is stopped. */
  start(acting: Acting): Promise<void> {
    if (this.#starting !== undefined) return this.#starting
    this.#parts.settings.runtime.context.capture()
    this.#starting = this.#start(acting).catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** Lets handlers end for `timeoutMs`, then releases their steps. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#starting?.catch(() => {})
    const [worker, retention] = [this.#worker, this.#retention]
    this.#worker = undefined
    this.#leaving = worker ?? this.#leaving
    this.#retention = undefined
    this.#starting = undefined
    this.#definitions = new Map()
    const stopped = retention?.stop() ?? Promise.resolve()
    const { clock } = this.#parts.settings.runtime
    await Promise.all([worker?.stop(timeoutMs), within(clock, timeoutMs + ROUND_MS, stopped)])
    if (worker === undefined) return
    if (this.#leaving === worker) this.#leaving = undefined
    this.#parts.settings.log.info('The worker has stopped.', { workerId: worker.workerId })
  }

  /** The worker that runs or is being stopped, and which of them. */
  get gauged(): GaugedWorker {
    const { session } = this.#worker ?? this.#leaving ?? {}
    if (this.#worker !== undefined) return { state: 'started', session }
    if (this.#leaving !== undefined) return { state: 'stopping', session }
    return { state: this.#starting === undefined ? 'stopped' : 'starting', session }
  }

  /** A run was created. In development mode, a worker that is missing is named at once. */
  created(run: Served): void {
    if (this.#parts.settings.dev) void this.lookout.started(run)
  }

  /** Stores new runs: through the worker, which takes on their first steps, if there is one. */
  startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const { registry } = this.#parts
    return registry.sending(runs, (sent) => this.#worker?.startRuns(sent) ?? this.#adapter.startRuns(sent))
  }

  /**
   * Stores again what the store may have lost of what this worker declares: its definitions, and limits and schedules that are missing. Calls that come
   * together share one. Does nothing without a worker.
   */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined
    })
    return this.#restoring
  }

  /** These runs were stopped. */
  runsStopped(runIds: readonly string[]): void {
    this.#worker?.runsStopped(runIds)
  }

  /** Steps of any definition may be ready. */
  wake(): void {
    this.#worker?.wake()
    this.#adapter.wake()
  }

  /** Steps of this definition are or will be ready: wakes this worker if it can take them, else other workers. */
  wakeFor(definitionId: number): void {
    const worker = this.#worker
    if (worker?.runs(definitionId) && worker.hasRoom) worker.wake()
    else this.#adapter.wake([definitionId])
  }

  /** Whether the worker runs. */
  get #state(): OwnWorker {
    if (this.#starting === undefined) return 'off'
    return this.#worker === undefined ? 'starting' : 'on'
  }

  get #adapter(): Adapter {
    return this.#parts.settings.adapter
  }

  async #start(acting: Acting): Promise<void> {
    const { settings, ...parts } = this.#parts
    tellMode(settings)
    await this.#adapter.open()
    const definitions = new Map(await this.#runnable())
    this.#tellUnrunnable()
    this.#definitions = definitions
    if ([...definitions.values()].some(isTransactional)) this.#adapter.checkTransactions?.()
    if (definitions.size === 0)
      settings.log.warn('This worker has no workflow to run. Pass `workflows` to createEngine().')
    const limits = declaredLimits(definitions.values())
    if (limits.length > 0) await this.#adapter.declareLimits(limits)
    const { children, ends } = familyOf({
      ...this.#parts,
      ...acting,
      onReady: (definitionId) => this.wakeFor(definitionId),
    })
    const isParent = [...definitions.values()].some(({ record }) => hasChildren(record.shape))
    await this.#storeSchedules()
    const worker = new Worker({
      ...settings,
      ...parts,
      definitions,
      children,
      history: this.history,
      restore: () => this.restore(),
      aside: this.aside,
      fireSchedules: () => fireDue(this.firing),
      endFollowers: [
        ...this.#endFollowers(definitions),
        (ended) => ends.follow(ended),
        queuedFirings(this.firing),
      ],
      onStopped: (runIds) => {
        if (isParent) ends.stopped(runIds)
      },
    })
    await worker.start()
    this.#worker = worker
    const { name, concurrency } = settings
    const workflows = [...definitions.values()].map((workflow) => `${workflow.name} v${workflow.version}`)
    settings.log.info('The worker has started.', { workerId: worker.workerId, name, concurrency, workflows })
    this.#startRetention()
  }

  /** What firing a schedule needs. */
  get firing(): FirerParts {
    const { settings, registry, onRunsChanged } = this.#parts
    return {
      ...{ adapter: this.#adapter, registry, settings, log: settings.log },
      ...{ apart: this.#apart, aside: this.aside, isWorking: () => this.#worker !== undefined },
      onStarted: (started) => {
        for (const id of new Set(started.map(({ definitionId }) => definitionId))) this.wakeFor(id)
      },
      onCancelled: (runs) => {
        this.runsStopped(runs.map(({ runId }) => runId))
        onRunsChanged(runs)
      },
    }
  }

  async #storeSchedules(): Promise<void> {
    const { schedules } = this.#parts.settings
    if (schedules !== undefined) await storeDeclared(this.#storing, schedules)
  }

  get #storing() {
    return { ...this.firing, assertOpen: () => {}, onChanged: () => this.wake() }
  }

  #wentBack(): void {
    const { payloads, settings } = this.#parts
    payloads.clear()
    this.restore().catch((error: unknown) => {
      settings.log.error('What the store has lost could not be stored again.', { error })
    })
  }

  async #restore(): Promise<void> {
    const definitions = this.#definitions
    if (definitions.size === 0) return
    const lost = await lostDefinitions(this.#adapter, definitions)
    if (lost.length > 0)
      this.history.lost(`the definition of workflow ${lost.join(', ')} is not there any more`)
    const saved = await this.#runnable()
    for (const id of definitions.keys()) if (!saved.has(id)) definitions.delete(id)
    for (const [id, workflow] of saved) definitions.set(id, workflow)
    const { schedules } = this.#parts.settings
    await restoreMissing(this.#storing, { limits: declaredLimits(definitions.values()), schedules })
    if (lost.length > 0) await this.#worker?.registerAgain()
  }

  /** The definitions that this process has handlers for, by the store's number. */
  async #runnable(): Promise<ReadonlyMap<number, WorkflowDefinition>> {
    const { settings, registry } = this.#parts
    const runnable = new Map<number, WorkflowDefinition>()
    for (const [id, workflow] of await registry.saveAll(withFollowUps(settings.workflows))) {
      if (workflow.runnable) runnable.set(id, workflow)
    }
    return runnable
  }

  #tellUnrunnable(): void {
    const { log, workflows } = this.#parts.settings
    for (const { name, runnable } of workflows)
      if (!runnable)
        log.info(
          'A workflow without handlers was registered: this process can start its runs, but not execute their steps.',
          { workflow: name },
        )
  }

  /** None, if none of the definitions needs any: then nobody asks for ends. */
  #endFollowers(definitions: ReadonlyMap<number, WorkflowDefinition>): WorkerParts['endFollowers'] {
    const { settings, registry } = this.#parts
    const hasEndSteps = [...definitions.values()].some(({ followUp }) => followUp !== null)
    if (!hasEndSteps) return []
    const start = async (runs: readonly NewRun[]) => {
      const started = await this.startRuns(runs)
      for (const definitionId of new Set(runs.map((run) => run.definitionId))) this.wakeFor(definitionId)
      return started
    }
    return [followUps({ adapter: this.#adapter, registry, settings, definitions, start })]
  }

  #startRetention(): void {
    const { settings, events, registry } = this.#parts
    const { adapter, runtime, log, retention } = settings
    if (retention === undefined) return
    this.#retention = new Retention({
      ...{ adapter, registry, runtime, log, events, aside: this.aside },
      settings: retention,
    })
    this.#retention.start()
  }
}
