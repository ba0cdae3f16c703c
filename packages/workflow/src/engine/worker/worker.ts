import type { Adapter, ChangedRun, NewRun, Settlement, StartedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import { LossyOutputs } from '../attempt/lossy-output.ts'
import type { EventHub } from '../base/events.ts'
import { Loop } from '../base/loop.ts'
import { OutageWatch } from '../base/outage.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import type { Runtime } from '../base/runtime.ts'
import { depart, type WorkerLoops } from './depart.ts'
import { DueWatch } from './due-watch.ts'
import type { Intake } from './intake.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { Crowd } from './peers.ts'
import { beginDueUndos } from './saga.ts'
import { Session } from './session.ts'

/** The most steps that one claim leases. */
const CLAIM_MAX = 500
/** The most steps that one sweep returns to the queue. */
const SWEEP_MAX = 1_000
/** The longest interval between two rounds of housekeeping, whatever the tick. */
const HOUSEKEEPING_MS = 1_000
/** The longest interval between two sweeps for dead workers. A tenth of the lease if that is shorter, so that they are noticed within a lease. */
const SWEEP_MS = 3_000

export interface WorkerParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly events: EventHub
  readonly log: Logger
  readonly payloads: PayloadCache
  readonly payloadMaxBytes: number
  readonly name: string
  readonly host: string | undefined
  readonly concurrency: number
  readonly tickMs: number
  readonly leaseMs: number
  /** Whether each ended attempt is kept as a row. */
  readonly keepAttempts: boolean
  /** The runnable definitions, by the store's number. */
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly onRunsChanged: (runs: readonly ChangedRun[]) => void
  /** This worker returned steps of dead workers to the queue. */
  readonly onRecovered: (steps: Awaited<ReturnType<Adapter['sweep']>>['recovered']) => void
}

/**
 * One worker: loops that never wait for each other. `lease` renews the lease; `claim` claims ready steps, each tick and whenever woken; `saga`
 * begins due undos; `housekeeping` sweeps for dead workers and notices runs that were stopped elsewhere; `reconcile` compares the steps that the
 * store holds for this worker with those it knows; `due` wakes it for timers and fails runs whose deadline has passed.
 */
export class Worker {
  readonly #parts: WorkerParts
  readonly #loops: WorkerLoops
  readonly #due: DueWatch
  readonly #stoppingRuns = new Set<string>()
  #session: Session
  #rotation = 0
  /** Ready steps may wait in the queue, so a freed slot claims at once instead of at the next tick. False once a claim found no more steps. */
  #moreLikely = true
  /** A claim is under way, so whether steps will remain in the queue is unknown. */
  #claiming = false
  #looksAtAllAt = 0
  #sweepsAt = 0
  /** When the session was last told that a tick has passed. */
  #waitedAt = 0
  #stopping = false
  #stopWake: () => void = () => {}
  readonly #lossyOutputs: LossyOutputs
  readonly #crowd: Crowd
  readonly #keeper: LeaseKeeper

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#lossyOutputs = new LossyOutputs(parts.log)
    this.#session = this.#openSession()
    this.#crowd = new Crowd(parts.runtime.clock, () => this.wake())
    this.#keeper = this.#leaseKeeper()
    this.#due = this.#dueWatch()
    this.#loops = {
      due: this.#due,
      lease: this.#loop('renewing the lease', this.#keeper.renewalMs, () => this.#keeper.renew()),
      reconcile: this.#loop(
        'comparing leases',
        () => this.#keeper.comparingMs,
        () => this.#keeper.compare(),
      ),
      claim: this.#loop(
        'claiming',
        () => this.#crowd.shared(parts.tickMs),
        () => this.#claim(),
      ),
      saga: this.#loop(
        'beginning undos',
        () => this.#crowd.shared(this.#housekeepingMs),
        () => this.#advanceSagas(),
      ),
      housekeeping: this.#loop('housekeeping', this.#housekeepingMs, () => this.#housekeep()),
    }
  }

  get workerId(): string {
    return this.#session.workerId
  }

  /** True if the worker could take a step now. */
  get hasRoom(): boolean {
    return !this.#stopping && this.#session.room > 0
  }

  /** True if the worker has the handlers of this definition. */
  runs(definitionId: number): boolean {
    return this.#parts.definitions.has(definitionId)
  }

  async start(): Promise<void> {
    this.#waitedAt = this.#parts.runtime.clock.now()
    await this.#keeper.register(this.#session)
    this.#parts.events.emit('worker.started', { workerId: this.workerId })
    this.#stopWake = this.#parts.adapter.onWake((hint) => this.#crowd.hinted(hint))
    for (const loop of Object.values(this.#loops)) loop.wake()
  }

  /** Work may have become claimable, now or soon. */
  wake(): void {
    this.#moreLikely = true
    this.#loops.claim.wake()
    this.#due.hint()
  }

  /** Stores new runs. Takes on their first steps in the same call if it could run them and no older steps wait in the queue. */
  startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const { adapter, definitions } = this.#parts
    const canRun = runs.every(({ definitionId }) => definitions.has(definitionId))
    const mayOvertake = this.#moreLikely || this.#claiming
    if (this.#stopping || mayOvertake || !canRun) return adapter.startRuns(runs)
    return this.#session.intake.startRuns(runs)
  }

  /** This process stopped runs: signals their handlers and begins their undo when it is due. */
  runsStopped(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#session.stopRun(runId)
      this.#stoppingRuns.add(runId)
    }
    if (runIds.length > 0) this.#loops.saga.wake()
  }

  /** Stops claiming and lets handlers end until the timeout. Then signals them, releases their steps, and leaves the registry. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#stopWake()
    this.#crowd.stop()
    const session = this.#session
    await depart({ ...this.#parts, session, loops: this.#loops, timeoutMs })
    this.#parts.events.emit('worker.stopped', { workerId: session.workerId })
  }

  get #housekeepingMs(): number {
    return Math.max(this.#parts.tickMs, HOUSEKEEPING_MS)
  }

  #leaseKeeper(): LeaseKeeper {
    return new LeaseKeeper({
      ...this.#parts,
      crowd: this.#crowd,
      session: () => this.#session,
      onLost: () => this.#replaceSession(),
      onFewer: () => {
        for (const loop of [this.#loops.claim, this.#loops.saga, this.#due]) loop.wake()
      },
      onDifference: () => this.#loops.reconcile.wake(),
    })
  }

  #loop(during: string, intervalMs: number | (() => number), work: () => Promise<void>): Loop {
    const outage = this.#outage(during)
    return new Loop({
      clock: this.#parts.runtime.clock,
      intervalMs,
      work: async () => {
        await work()
        outage.succeeded()
      },
      onError: (error) => outage.failed(error),
    })
  }

  #dueWatch(): DueWatch {
    const { adapter, runtime, tickMs, definitions, onRunsChanged } = this.#parts
    return new DueWatch({
      adapter,
      runtime,
      outage: this.#outage('looking for what is due'),
      tickMs,
      horizonMs: this.#housekeepingMs,
      intervalMs: () => this.#crowd.shared(this.#housekeepingMs),
      definitionIds: [...definitions.keys()],
      onDue: () => {
        this.#moreLikely = true
        this.#loops.claim.wake()
      },
      onExpired: (runs) => {
        this.runsStopped(runs.map(({ runId }) => runId))
        // A paused run stays paused: its undo begins once it is resumed.
        onRunsChanged(runs.filter(({ status }) => status === 'compensating'))
      },
    })
  }

  #outage(during: string): OutageWatch {
    const { log, events, runtime } = this.#parts
    return new OutageWatch({ during, log, events, random: runtime.random })
  }

  #openSession(): Session {
    const session: Session = new Session({
      ...this.#parts,
      workerId: this.#parts.runtime.newId(),
      lossyOutputs: this.#lossyOutputs,
      outage: this.#outage('settling'),
      onSettled: (settlement, definitionIds) => this.#settled(settlement, definitionIds),
      onStoppingRunMoved: (runId) => {
        this.#stoppingRuns.add(runId)
        this.#loops.saga.wake()
      },
      onRoom: () => {
        this.#onRoom()
      },
      onUnsure: () => this.#loops.reconcile.wake(),
      onLeaseDoubted: () => this.#loops.lease.wake(),
      onRefused: (error) => {
        this.#parts.log.error(
          'The store keeps refusing an outcome; this worker gives up its id and continues under a new one.',
          { error },
        )
        // The old identity's lease then expires, and a sweep returns the step to the queue.
        if (session === this.#session) this.#replaceSession().catch((failure) => this.#unexpected(failure))
      },
    })
    return session
  }

  #unexpected(error: unknown): void {
    this.#parts.log.error(
      'The worker could not register under a new id; it tries again with its next claim.',
      { error },
    )
    this.#parts.events.emit('error', { during: 'registering', error })
  }

  async #replaceSession(): Promise<void> {
    const lost = this.#session
    if (this.#stopping) return
    this.#session = this.#openSession()
    const steps = lost.lose()
    this.#parts.log.error('This worker was presumed dead: it lost its lease and continues under a new id.', {
      workerId: lost.workerId,
      steps,
    })
    this.#parts.events.emit('lease.lost', { workerId: lost.workerId, steps })
    // An unregistered session claims nothing: the claim loop answers 'lost' and registers again if this fails.
    await this.#keeper.register(this.#session)
    this.wake()
  }

  async #claim(): Promise<void> {
    const session = this.#session
    const now = this.#parts.runtime.clock.now()
    if (now >= this.#waitedAt + this.#parts.tickMs) {
      this.#waitedAt = now
      session.capacity.window.waited(this.#parts.concurrency)
    }
    const ids = [...this.#parts.definitions.keys()]
    if (ids.length === 0) return
    for (;;) {
      if (this.#stopping || session !== this.#session) return
      this.#moreLikely = false
      const result = await this.#claimOnce(session, ids)
      if (result === 'lost') return this.#replaceSession()
      if (result === 'drained') return
      this.#moreLikely = true
      if (result === 'full') return
    }
  }

  async #claimOnce(session: Session, ids: readonly number[]): ReturnType<Intake['claim']> {
    this.#claiming = true
    try {
      return await session.intake.claim(this.#rotated(ids), CLAIM_MAX)
    } catch (error) {
      // Whether ready steps remain in the queue is unknown.
      this.#moreLikely = true
      throw error
    } finally {
      this.#claiming = false
    }
  }

  /** Rotates the order, so that no workflow waits for ever behind the others. */
  #rotated(ids: readonly number[]): readonly number[] {
    this.#rotation = (this.#rotation + 1) % ids.length
    return [...ids.slice(this.#rotation), ...ids.slice(0, this.#rotation)]
  }

  #onRoom(): void {
    if (this.#moreLikely && this.#session.room > 0) this.#loops.claim.wake()
  }

  #settled(settlement: Settlement, definitionIds: readonly number[]): void {
    this.#runsChanged(settlement.runs)
    if (!settlement.queued) return
    this.#moreLikely = true
    // Without a free slot, other workers take the steps.
    if (this.hasRoom) this.#loops.claim.wake()
    else this.#parts.adapter.wake(definitionIds)
  }

  #runsChanged(runs: readonly ChangedRun[]): void {
    if (runs.length === 0) return
    this.runsStopped(runs.filter(({ status }) => status === 'compensating').map(({ runId }) => runId))
    this.#parts.onRunsChanged(runs)
  }

  async #advanceSagas(): Promise<void> {
    const { adapter, definitions, runtime } = this.#parts
    if (definitions.size === 0) return
    const known = [...this.#stoppingRuns]
    this.#stoppingRuns.clear()
    // When woken for certain runs, looks only at those. At intervals looks at all runs, to find those whose worker died.
    const now = runtime.clock.now()
    const runIds = known.length > 0 && now < this.#looksAtAllAt ? known : undefined
    if (runIds === undefined) this.#looksAtAllAt = now + HOUSEKEEPING_MS
    const session = this.#session
    const begin = (plans: readonly UndoPlan[]) => session.intake.beginUndo(plans)
    const moved = await beginDueUndos({ adapter, definitions, runIds, begin })
    this.#parts.onRunsChanged(moved.filter(({ status }) => status !== 'compensating'))
    if (moved.some(({ status }) => status === 'compensating')) this.wake()
  }

  async #housekeep(): Promise<void> {
    const { adapter, runtime } = this.#parts
    const session = this.#session
    const forward = session.forwardRuns(runtime.clock.now() - HOUSEKEEPING_MS / 2)
    if (forward.length > 0) this.runsStopped(await adapter.stopping({ runIds: forward }))
    await this.#sweep()
  }

  async #sweep(): Promise<void> {
    const { adapter, runtime, events, leaseMs, keepAttempts, onRecovered } = this.#parts
    const now = runtime.clock.now()
    if (now < this.#sweepsAt) return
    this.#sweepsAt = now + Math.min(leaseMs / 2, this.#crowd.shared(Math.min(SWEEP_MS, leaseMs / 10)))
    for (;;) {
      const swept = await adapter.sweep({ limit: SWEEP_MAX, keepAttempts })
      for (const workerId of swept.lostWorkers) events.emit('worker.lost', { workerId })
      if (swept.recovered.length > 0) {
        onRecovered(swept.recovered)
        this.wake()
      }
      if (!swept.more || this.#stopping) return
    }
  }
}
