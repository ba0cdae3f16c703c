import type { Adapter, ChangedRun, NewRun, Settlement, StartedRun } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import type { Around } from '../attempt/around.ts'
import type { ValueLimits } from '../attempt/telling.ts'
import { hasLimits, limitsOfNewest } from '../base/declared-limits.ts'
import type { EventHub } from '../base/events.ts'
import type { Meter } from '../base/meter.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import type { RunTraceparents } from '../base/run-traceparents.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import type { StoreHistory } from '../base/store-history.ts'
import { Claimer } from './claimer.ts'
import { depart, type WorkerLoops } from './depart.ts'
import { Housekeeper } from './housekeeper.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { OlderRuns } from './older-runs.ts'
import { openLoops, outageWatch } from './open-loops.ts'
import type { Told } from './outcome-of.ts'
import { Crowd } from './peers.ts'
import type { Followers } from './run-ends.ts'
import { Sagas } from './saga.ts'
import { Session } from './session.ts'

export interface WorkerParts extends Followers {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly events: EventHub
  readonly meter: Meter
  readonly log: Logger
  /** For what handlers log. */
  readonly handlerLog: Logger
  /** What surrounds handlers; undefined for nothing. */
  readonly around: readonly Around[] | undefined
  readonly traceparents?: RunTraceparents | undefined
  readonly payloads: PayloadCache
  readonly aside: SetAside
  readonly payloadMaxBytes: number
  readonly name: string
  readonly host: string | undefined
  readonly concurrency: number
  /** Slots beyond these, for undos alone. */
  readonly undoSlots: number
  readonly tickMs: number
  readonly leaseMs: number
  /** Whether each ended attempt is kept as a row. */
  readonly keepAttempts: boolean
  readonly storeStacks: boolean
  readonly valueLimits: ValueLimits
  /** The runnable definitions, by the store's number. Read anew each time: a number changes if the store has lost a definition. */
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly history: Pick<StoreHistory, 'look' | 'lost'>
  /** Makes sure that the store has what this process declares. */
  readonly restore: () => Promise<void>
  /** Fires the schedules that are due. Resolves to whether one of them changed. */
  readonly fireSchedules: () => Promise<boolean>
  readonly onRunsChanged: (runs: readonly ChangedRun[]) => void
  /** The store has a new value of this run. */
  readonly onPublished: (runId: string) => void
  /** This worker returned steps of dead workers to the queue. */
  readonly onRecovered: (steps: Awaited<ReturnType<Adapter['sweep']>>['recovered']) => void
}

/**
 * One worker: loops that never wait for each other, around the session of its current identity. `lease` renews the lease; `claim` claims ready
 * steps, each tick and whenever woken; `saga` begins due undos; `housekeeping` notices dead workers and runs that were stopped elsewhere;
 * `reconcile` compares the steps that the store holds for this worker with those it knows; `due` wakes it for timers and fails runs whose deadline
 * has passed.
 */
export class Worker {
  readonly #parts: WorkerParts
  readonly #crowd: Crowd
  readonly #claimer: Claimer
  readonly #sagas: Sagas
  readonly #keeper: LeaseKeeper
  readonly #older: OlderRuns
  readonly #loops: WorkerLoops
  #session: Session
  #isStopping = false
  #stopHints: () => void = () => {}

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#session = this.#openSession()
    this.#crowd = new Crowd(parts.runtime.clock, () => this.wake())
    this.#claimer = new Claimer(parts)
    this.#sagas = new Sagas(parts)
    this.#keeper = this.#leaseKeeper()
    this.#older = new OlderRuns({
      adapter: parts.adapter,
      aside: parts.aside,
      limits: limitsOfNewest(parts.definitions.values()),
      onCancelled: (runs) => this.#stopped(runs),
    })
    this.#loops = this.#openLoops()
  }

  get workerId(): string {
    return this.#session.workerId
  }

  /** What belongs to its current identity. */
  get session(): Session {
    return this.#session
  }

  /** True if the worker could take a step now. */
  get hasRoom(): boolean {
    return !this.#isStopping && this.#session.capacity.room > 0
  }

  /** True if the worker has the handlers of this definition. */
  runs(definitionId: number): boolean {
    return this.#parts.definitions.has(definitionId)
  }

  async start(): Promise<void> {
    await this.#keeper.register(this.#session)
    this.#parts.events.emit('worker.started', { workerId: this.workerId })
    this.#stopHints = this.#parts.adapter.onWake((hint) => this.#crowd.hinted(hint))
    for (const loop of Object.values(this.#loops)) loop.wake()
  }

  /** Tells the store the definitions for which this worker has handlers. */
  registerAgain(): Promise<void> {
    return this.#keeper.register(this.#session)
  }

  /** Work may have become claimable, now or soon. */
  wake(): void {
    this.#claimer.hint()
    this.#loops.claim.wake()
    this.#loops.due.hint()
  }

  /** Stores new runs. Takes on their first steps in the same call if it could run them and no older steps wait in the queue. */
  startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const canRun = runs.every(({ definitionId }) => this.runs(definitionId))
    // Where some take slots nothing is leased.
    const isLimited = runs.some(({ limits }) => limits !== undefined)
    const isFirst = this.#claimer.queue === 'empty'
    if (this.#isStopping || !isFirst || !canRun || isLimited) return this.#parts.adapter.startRuns(runs)
    return this.#session.intake.startRuns(runs)
  }

  /** Runs were stopped: signals their handlers, and begins their undo when it is due. */
  runsStopped(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#session.attempts.stopRun(runId)
      this.#sagas.note(runId)
    }
    this.#parts.onStopped(runIds)
    if (runIds.length > 0) this.#loops.saga.wake()
  }

  /** Stops claiming and lets handlers end until the timeout. Then signals them, releases their steps, and leaves the registry. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#stopHints()
    this.#crowd.stop()
    const session = this.#session
    await depart({ ...this.#parts, session, loops: this.#loops, timeoutMs })
    this.#parts.events.emit('worker.stopped', { workerId: session.workerId })
  }

  #openLoops(): WorkerLoops {
    return openLoops({
      ...this.#parts,
      crowd: this.#crowd,
      keeper: this.#keeper,
      housekeeper: this.#housekeeper(),
      sagas: this.#sagas,
      session: () => this.#session,
      claim: () => this.#claim(),
      advanceSagas: () => this.#advanceSagas(),
      onDue: () => {
        this.#claimer.hint()
        this.#loops.claim.wake()
      },
      onExpired: (runs) => this.#stopped(runs),
    })
  }

  #stopped(runs: readonly ChangedRun[]): void {
    this.runsStopped(runs.map(({ runId }) => runId))
    // A paused run stays paused: its undo begins once it is resumed.
    this.#parts.onRunsChanged(runs.filter(({ status }) => status === 'compensating'))
  }

  #leaseKeeper(): LeaseKeeper {
    return new LeaseKeeper({
      ...this.#parts,
      crowd: this.#crowd,
      session: () => this.#session,
      onLost: () => this.#replaceSession(),
      onFewer: () => {
        for (const loop of [this.#loops.claim, this.#loops.saga, this.#loops.due]) loop.wake()
      },
      onDifference: () => this.#loops.reconcile.wake(),
    })
  }

  #housekeeper(): Housekeeper {
    return new Housekeeper({
      ...this.#parts,
      crowd: this.#crowd,
      older: this.#older,
      onStopped: (runIds) => this.runsStopped(runIds),
      onRecovered: (steps) => {
        this.#parts.onRecovered(steps)
        this.wake()
      },
      hasLimits: [...this.#parts.definitions.values()].some(hasLimits),
      onQueued: () => {
        this.wake()
        this.#parts.adapter.wake()
      },
      isStopping: () => this.#isStopping,
    })
  }

  #openSession(): Session {
    return new Session({
      ...this.#parts,
      workerId: this.#parts.runtime.newId(),
      outage: outageWatch(this.#parts, 'settling'),
      tellingOutage: outageWatch(this.#parts, 'publishing values'),
      onSettled: (settlement, told) => this.#settled(settlement, told),
      onStoppingRunMoved: (runId) => {
        this.#sagas.note(runId)
        this.#loops.saga.wake()
      },
      onRoom: () => {
        if (this.#claimer.queue === 'likely' && this.#session.capacity.room > 0) this.#loops.claim.wake()
      },
      onDoubt: () => this.#loops.reconcile.wake(),
      onLeaseDoubted: () => this.#loops.lease.wake(),
    })
  }

  async #replaceSession(): Promise<void> {
    const lost = this.#session
    if (this.#isStopping) return
    this.#session = this.#openSession()
    const steps = lost.lose()
    this.#parts.log.error('This worker was presumed dead: it lost its lease and continues under a new id.', {
      workerId: lost.workerId,
      steps,
    })
    this.#parts.events.emit('lease.lost', { workerId: lost.workerId, steps })
    // An unregistered session claims nothing: the claim loop answers 'lost' and registers again if this fails. The store may have lost more than the
    // worker's row: once a worker is registered, its definitions are there.
    await this.#parts.restore()
    await this.#keeper.register(this.#session)
    this.wake()
  }

  async #claim(): Promise<void> {
    const session = this.#session
    const isCurrent = () => !this.#isStopping && session === this.#session
    if ((await this.#claimer.claim(session, isCurrent)) === 'lost') await this.#replaceSession()
  }

  #settled(settlement: Settlement, { definitionIds, parked }: Told): void {
    this.#runsChanged(settlement.runs)
    if (parked.length > 0 && this.#older.parked(parked)) this.#loops.housekeeping.wake()
    if (!settlement.queued) return
    // They may have been given instants that come soon.
    if (settlement.results.includes('parked')) this.#loops.due.hint()
    this.#claimer.hint()
    // Without a free slot, other workers take the steps.
    if (this.hasRoom) this.#loops.claim.wake()
    else this.#parts.adapter.wake(definitionIds)
  }

  #runsChanged(runs: readonly ChangedRun[]): void {
    if (runs.length === 0) return
    this.runsStopped(runs.filter(({ status }) => status === 'compensating').map(({ runId }) => runId))
    this.#reported(runs)
  }

  #reported(runs: readonly ChangedRun[]): void {
    this.#parts.onRunsChanged(runs)
    this.#loops.ends.changed(runs)
  }

  async #advanceSagas(): Promise<void> {
    const moved = await this.#sagas.advance(this.#session)
    this.#reported(moved.filter(({ status }) => status !== 'compensating'))
    if (moved.some(({ status }) => status === 'compensating')) this.wake()
  }
}
