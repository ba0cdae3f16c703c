import type { Adapter, Claim, Settlement } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { Attempt, type AttemptParts, type ClaimOrigin, type Performance } from '../attempt/attempt.ts'
import { AttemptReports } from '../attempt/attempt-reports.ts'
import { leaseLost, runStopping, stepTaken, workerStopping } from '../attempt/interruption.ts'
import type { EventHub } from '../base/events.ts'
import type { OutageWatch } from '../base/outage.ts'
import { pause } from '../base/runtime.ts'
import { Capacity } from './capacity.ts'
import { Intake } from './intake.ts'
import { Lease } from './lease.ts'
import { dependentsOf, insteadOf, outcomeOf } from './outcome-of.ts'
import { Reconciler } from './reconciler.ts'
import { type SettleResult, Settler, type SettlerEntry, type SettlerOptions } from './settler.ts'
import { Slots } from './slots.ts'
import { Transactions } from './step-transactions.ts'

/** Outcomes that may wait for the store before the session takes on no more work. */
const BACKLOG_MAX = 2_000
/** Runs known to be stopping that a session remembers; older ones are noticed again by asking the store. */
const STOPPING_MAX = 10_000

export interface SessionParts extends Omit<AttemptParts, 'onCall' | 'onLateResult'> {
  readonly adapter: Adapter
  readonly events: EventHub
  readonly outage: OutageWatch
  readonly workerId: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly keepAttempts: boolean
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** `definitionIds`: of the workflows whose steps were settled. */
  readonly onSettled: (settlement: Settlement, definitionIds: readonly number[]) => void
  /** An attempt of a stopping run has ended: its undo may be due. */
  readonly onStoppingRunMoved: (runId: string) => void
  /** A slot or the last attempt went. */
  readonly onRoom: () => void
  /** The store may hold something for this session that it does not know. */
  readonly onUnsure: () => void
  /** A handler waits to begin until the lease is known to hold. */
  readonly onLeaseDoubted: () => void
  readonly onRefused: (error: unknown) => void
}

/**
 * What one worker identity holds: its attempts, from claim to settled outcome. When the identity is lost, the session ends with it and the
 * worker opens another: the two never mix, because every attempt is settled under the identity it was claimed by.
 */
export class Session {
  readonly workerId: string
  /** The calls that bring it work. */
  readonly intake: Intake
  readonly capacity: Capacity
  readonly lease: Lease
  /** Finds what the store and this session don't agree on. */
  readonly reconciler: Reconciler
  readonly #parts: SessionParts
  readonly #attemptParts: AttemptParts
  readonly #settler: Settler<Attempt>
  readonly #transactions: Transactions
  readonly #slots: Slots<Attempt, Performance | undefined>
  readonly #reports: AttemptReports
  readonly #attempts = new Set<Attempt>()
  /** Steps from the queue that the settlement being answered has ended. */
  #endedFromQueue = 0
  readonly #stoppingRuns = new Set<string>()
  /** Attempts that wait for their payloads. */
  #preparing = 0
  #leaving = false
  #roomTold = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.workerId = parts.workerId
    this.#reports = new AttemptReports(parts)
    this.lease = new Lease(parts.runtime.clock, parts.leaseMs)
    this.capacity = new Capacity(() => this.#free)
    this.#attemptParts = {
      ...parts,
      onCall: (attempt) => this.#reports.begun(attempt),
      onLateResult: (attempt) => this.#reports.discarded(attempt, 'timed_out'),
    }
    this.#slots = new Slots({
      concurrency: parts.concurrency,
      perform: (attempt) => (this.lease.holds ? this.#perform(attempt) : this.#performOnceHeld(attempt)),
      onEnd: (attempt, end) => {
        if (end !== undefined) this.#end(attempt, end)
        this.#tellRoom()
      },
    })
    const settling = this.#settlerOptions(parts)
    this.#settler = new Settler(settling)
    const isAbandoned = () => this.#settler.isAbandoned
    const leaseKnown = () => this.#leaseKnown()
    const leaseHolds = () => this.lease.holds
    this.#transactions = new Transactions({
      ...settling,
      log: parts.log,
      isAbandoned,
      leaseKnown,
      leaseHolds,
    })
    this.intake = this.#openIntake(parts)
    this.reconciler = this.#openReconciler(parts)
  }

  /** How many more steps it could take on. */
  get room(): number {
    return this.capacity.room
  }

  /** Attempts that only wait for their outcome to be recorded need no slot. */
  get #free(): number {
    if (this.#leaving || this.#settler.backlog > BACKLOG_MAX) return 0
    return this.#slots.free - this.#preparing
  }

  /** Slots taken: handlers running, and what is about to run. */
  get busy(): number {
    return Math.min(this.#parts.concurrency, this.#parts.concurrency - this.#slots.free)
  }

  /** Attempts not yet settled. */
  get size(): number {
    return this.#attempts.size
  }

  /** Whether it holds nothing, and no call is under way that may lease it something. */
  get isEmpty(): boolean {
    return this.#attempts.size === 0 && !this.capacity.isLeasing
  }

  /** Attempts that began longer ago than this, and those that have yet to begin. */
  knownFor(ms: number): number {
    const before = this.#parts.runtime.clock.now() - ms
    let known = 0
    for (const { startedAt } of this.#attempts) if (startedAt < before) known += 1
    return known
  }

  /** Runs with a forward attempt in flight that was claimed before `instant` of the engine's clock. */
  forwardRuns(instant: number): string[] {
    const runs = new Set<string>()
    for (const { claim, phase, startedAt } of this.#attempts) {
      if (claim.direction === 'forward' && phase === 'running' && startedAt < instant) runs.add(claim.runId)
    }
    return [...runs]
  }

  accept(claims: readonly Claim[], origin: ClaimOrigin): void {
    for (const claim of claims) this.#begin(claim, origin)
  }

  /** The run goes forward no more: signals its forward handlers, and lets go of what has not started. */
  stopRun(runId: string): void {
    if (this.#stoppingRuns.size >= STOPPING_MAX) this.#stoppingRuns.clear()
    this.#stoppingRuns.add(runId)
    for (const attempt of this.#attempts) {
      if (attempt.claim.runId !== runId || attempt.claim.direction !== 'forward') continue
      attempt.interrupt(runStopping(runId))
      if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
    }
  }

  /** The identity is gone: signals every handler. Their results are still sent, and the store discards them. */
  lose(): number {
    this.#leaving = true
    for (const attempt of this.#attempts) {
      attempt.interrupt(leaseLost(attempt))
      // The fence would roll it back anyhow, but whoever has the step now wants what it has locked.
      attempt.cutOff()
    }
    this.lease.end()
    return this.#attempts.size
  }

  /** Takes on nothing new and lets go of what has not started. */
  leave(): void {
    this.#leaving = true
    for (const attempt of this.#attempts) {
      if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
    }
  }

  /** Asks running handlers to stop. */
  interruptAll(): void {
    for (const attempt of this.#attempts) {
      attempt.interrupt(workerStopping())
    }
  }

  /** Gives back every step whose handler still runs, without spending its attempt. */
  releaseAll(): void {
    for (const attempt of this.#attempts) {
      if (attempt.phase === 'settling') continue
      this.#end(attempt, { type: 'given_up' })
      attempt.cutOff()
    }
    this.lease.end()
  }

  /** Stops trying to reach the store: what is not recorded by now is left to the lease's end. */
  abandon(): void {
    this.#settler.abandon()
  }

  #openIntake({ adapter, workerId, definitions, onUnsure }: SessionParts): Intake {
    const accept = (claims: readonly Claim[], origin: ClaimOrigin) => this.accept(claims, origin)
    return new Intake({
      adapter,
      workerId,
      definitions,
      capacity: this.capacity,
      accept,
      onUnsure: () => this.#unsure(onUnsure),
    })
  }

  #openReconciler({ adapter, workerId, definitions }: SessionParts): Reconciler {
    return new Reconciler({
      adapter,
      workerId,
      capacity: this.capacity,
      attempts: () => this.#attempts,
      canRun: ({ definitionId }) => definitions.has(definitionId),
      adopt: (claims) => {
        this.#reports.adopted(claims.length)
        this.accept(claims, 'found')
      },
      drop: (attempts) => {
        for (const attempt of attempts) this.#drop(attempt)
      },
    })
  }

  #unsure(tell: () => void): void {
    this.reconciler.doubt()
    tell()
  }

  /** Whoever has the step now wants what this attempt has locked. Its result is still sent, and the store discards it. */
  #drop(attempt: Attempt): void {
    attempt.interrupt(stepTaken(attempt))
    attempt.cutOff()
    if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
  }

  #perform(attempt: Attempt): Performance | undefined | Promise<Performance | undefined> {
    if (attempt.phase === 'settling') return undefined
    const { transaction } = attempt
    return transaction === null ? attempt.perform() : this.#transactions.perform(attempt, transaction)
  }

  /** This process may have stood still for longer than its lease: its steps may be somebody else's by now. */
  async #performOnceHeld(attempt: Attempt): Promise<Performance | undefined> {
    await this.#leaseKnown()
    return this.#perform(attempt)
  }

  async #leaseKnown(): Promise<void> {
    if (this.lease.holds) return
    this.#parts.onLeaseDoubted()
    await this.lease.known()
  }

  #settlerOptions(parts: SessionParts): SettlerOptions<Attempt> {
    return {
      adapter: parts.adapter,
      runtime: parts.runtime,
      outage: parts.outage,
      workerId: parts.workerId,
      keepAttempts: parts.keepAttempts,
      reserve: (entries) => this.capacity.reserve(dependentsOf(entries)),
      onResult: (entry, result) => this.#settled(entry, result),
      onSettled: (settlement, entries) => {
        this.capacity.window.ended(this.#endedFromQueue, settlement.queued)
        this.#endedFromQueue = 0
        this.accept(settlement.claims, 'handed back')
        parts.onSettled(settlement, settlement.queued ? definitionsOf(entries) : [])
        this.#tellRoom()
      },
      onUnsure: () => this.#unsure(parts.onUnsure),
      onHeldUp: ({ item }, error) => this.#reports.heldUp(item, error),
      insteadOf: ({ item, outcome }, reason) => insteadOf(item, outcome, reason),
      onRefused: parts.onRefused,
    }
  }

  #begin(claim: Claim, origin: ClaimOrigin): void {
    const definition = this.#parts.definitions.get(claim.definitionId)
    // Claims are asked for by definition, so this is a claim of somebody else's making: not ours to run, nor to lose.
    if (definition === undefined) return
    const attempt = new Attempt(claim, definition, this.#attemptParts, origin)
    this.#attempts.add(attempt)
    this.reconciler.began(claim)
    if (claim.input !== undefined) this.#parts.payloads.rememberInput(claim.runId, claim.input)
    if (this.#leaving) this.#end(attempt, { type: 'given_up' })
    else if (claim.direction === 'forward' && this.#stoppingRuns.has(claim.runId))
      void this.#beginIfForward(attempt)
    else this.#open(attempt)
  }

  /** Its run was stopped when this session last heard of it. The claim may be older than that, or an operator sent the run forward again. */
  async #beginIfForward(attempt: Attempt): Promise<void> {
    const { runId } = attempt.claim
    const stopping = await this.#parts.adapter.stopping({ runIds: [runId] }).catch(() => [runId])
    // It may have been given up meanwhile.
    if (attempt.phase !== 'queued') return
    if (this.#leaving || stopping.length > 0) {
      this.#end(attempt, { type: 'given_up' })
      return
    }
    this.#stoppingRuns.delete(runId)
    this.#open(attempt)
  }

  #open(attempt: Attempt): void {
    const reading = attempt.prepare()
    if (reading === undefined) this.#slots.add(attempt)
    else void this.#prepare(attempt, reading)
  }

  async #prepare(attempt: Attempt, reading: Promise<void>): Promise<void> {
    this.#preparing += 1
    const prepared = await this.#read(attempt, reading)
    this.#preparing -= 1
    if (prepared) this.#slots.add(attempt)
    // It may have been given up meanwhile.
    else if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
    this.#tellRoom()
  }

  /** Reads until the store answers or there is no more use for it. */
  async #read(attempt: Attempt, first: Promise<void>): Promise<boolean> {
    for (let reading: Promise<void> | undefined = first; ; reading = attempt.prepare()) {
      try {
        await reading
        return true
      } catch (error) {
        if (BelayError.is(error) && error.code === 'unknown_run') return false
        await pause(this.#parts.runtime.clock, this.#parts.outage.failed(error))
        if (this.#leaving || attempt.phase !== 'queued') return false
      }
    }
  }

  #end(attempt: Attempt, end: Performance): void {
    if (attempt.phase === 'settling') {
      // Its handler ended after the step was given back.
      this.#reports.discarded(attempt, 'released')
      return
    }
    // It may wait for the turn of its transaction.
    if (attempt.phase === 'queued') attempt.cutOff()
    attempt.decided()
    this.#settler.settle({ item: attempt, outcome: outcomeOf(attempt, end, this.#parts.runtime.random) })
  }

  #settled({ item: attempt, outcome }: SettlerEntry<Attempt>, result: SettleResult): void {
    const { payloads } = this.#parts
    this.#attempts.delete(attempt)
    if (attempt.origin === 'queue') this.#endedFromQueue += 1
    if (result === 'lost') this.#reports.discarded(attempt, 'lease_lost')
    if (result === 'settled') {
      if (outcome.type === 'completed' && attempt.dependents.length > 0) {
        payloads.rememberOutput(outcome.runId, outcome.step, outcome.output)
      }
      this.#reports.settled(attempt, outcome)
    }
    if (this.#stoppingRuns.has(outcome.runId)) this.#parts.onStoppingRunMoved(outcome.runId)
    if (result === 'abandoned') this.#tellRoom()
  }

  /** Once for all that ends at one moment, and after it: the first of many freed slots would else be filled alone. */
  #tellRoom(): void {
    if (this.#roomTold) return
    this.#roomTold = true
    queueMicrotask(() => {
      this.#roomTold = false
      this.#parts.onRoom()
    })
  }
}

function definitionsOf(entries: readonly SettlerEntry<Attempt>[]): readonly number[] {
  return [...new Set(entries.map(({ outcome }) => outcome.definitionId))]
}
