import type { Claim, LimitEntry, Settlement } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { BelayError } from '../../errors.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptParts } from '../attempt/attempt-parts.ts'
import type { ClaimOrigin } from '../attempt/attempt-phase.ts'
import { AttemptReports } from '../attempt/attempt-reports.ts'
import { leaseLost, runStopping, stepTaken, workerStopping } from '../attempt/interruption.ts'
import type { EventHub } from '../base/events.ts'
import type { OutageWatch } from '../base/outage.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import { type AttemptEnd, refOf } from '../decisions/decide.ts'
import { attemptOf, settling } from './attempt-of.ts'
import type { Capacity } from './capacity.ts'
import type { Lease } from './lease.ts'
import {
  endOnceTold,
  outcomeOf,
  replacementFor,
  reserveFor,
  slotHolders,
  type Told,
  toTell,
} from './outcome-of.ts'
import { overtakenBy } from './overtaken.ts'
import { partsOfAttempt, type SharedParts } from './parts-of-attempt.ts'
import { Performer, type PerformerParts } from './performer.ts'
import { pushBack } from './push-back.ts'
import { rememberOutcome } from './remember-outcome.ts'
import { type SettleResult, Settler, type SettlerEntry, type SettlerOptions } from './settler.ts'
import { Transactions } from './step-transactions.ts'
import { Teller } from './teller.ts'

/** Runs known to be stopping that a session remembers; older ones are noticed again by asking the store. */
const STOPPING_MAX = 10_000

export interface AttemptsParts
  extends Omit<AttemptParts<Attempt>, 'onCall' | 'onLateResult' | 'telling' | 'around'>,
    Pick<SharedParts, 'around' | 'traceparents' | 'handlerLog' | 'valueLimits'>,
    Pick<PerformerParts, 'concurrency' | 'undoSlots' | 'outage' | 'aside'>,
    Pick<SettlerOptions<Attempt>, 'adapter' | 'meter' | 'workerId' | 'keepAttempts'> {
  readonly events: EventHub
  readonly payloads: PayloadCache
  /** Of the calls that send what attempts tell. */
  readonly tellingOutage: OutageWatch
  readonly storeStacks: boolean
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly capacity: Capacity
  readonly lease: Lease
  /** An attempt for this claim begins. */
  readonly onBegin: (claim: Claim) => void
  /** The store recorded outcomes. */
  readonly onSettled: (settlement: Settlement, told: Told) => void
  /** An attempt of a stopping run has ended: its undo may be due. */
  readonly onStoppingRunMoved: (runId: string) => void
  /** The store has a new value of this run. */
  readonly onPublished: (runId: string) => void
}

/**
 * The attempts of one worker identity, each from its claim to its recorded outcome: `accept` takes a claim on, the performer brings it to its end,
 * and the settler records the outcome. What a settlement hands back is accepted in turn.
 */
export class Attempts {
  readonly performer: Performer
  readonly #parts: AttemptsParts
  readonly #attemptParts: AttemptParts<Attempt>
  readonly #capacity: Capacity
  readonly #payloads: PayloadCache
  readonly #definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly #settler: Settler<Attempt>
  readonly #teller: Teller
  readonly #reports: AttemptReports
  readonly #all = new Set<Attempt>()
  readonly #stoppingRuns = new Set<string>()
  /** Steps from the queue that the settlement being answered has ended. */
  #endedFromQueue = 0

  constructor(parts: AttemptsParts) {
    this.#parts = parts
    this.#reports = new AttemptReports(parts)
    this.#capacity = parts.capacity
    this.#payloads = parts.payloads
    this.#definitions = parts.definitions
    this.#teller = new Teller({
      ...parts,
      ...parts.valueLimits,
      outage: parts.tellingOutage,
      reports: this.#reports,
    })
    this.#attemptParts = partsOfAttempt(parts, this.#reports, this.#teller)
    const settling = this.#settlerOptions(parts)
    this.#settler = new Settler(settling)
    const isAbandoned = () => this.#settler.isAbandoned
    this.performer = new Performer({
      ...parts,
      transactions: new Transactions({ ...parts, ...settling, isAbandoned }),
      onEnd: (attempt, end) => this.#end(attempt, end),
    })
  }

  /** Outcomes that wait for a call to the store. */
  get unsent(): number {
    return this.#settler.backlog
  }

  /** Attempts whose outcome is not recorded yet. */
  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): Iterator<Attempt> {
    return this.#all.values()
  }

  /** Takes claims on. Gives them up at once if the session is closed. */
  accept(claims: readonly Claim[], origin: ClaimOrigin): void {
    this.drop(overtakenBy(claims, this.#all))
    for (const claim of claims) this.#accept(claim, origin)
  }

  /** Takes on steps that the store leased to this worker although the answer was lost. */
  adopt(claims: readonly Claim[]): void {
    this.#reports.adopted(claims.length)
    this.accept(claims, 'found')
  }

  /** The run does not go forward any more: signals its forward handlers, and gives up its attempts that have not begun. */
  stopRun(runId: string): void {
    if (this.#stoppingRuns.size >= STOPPING_MAX) this.#stoppingRuns.clear()
    this.#stoppingRuns.add(runId)
    for (const attempt of this.#all) {
      if (attempt.claim.runId !== runId || attempt.claim.direction !== 'forward') continue
      attempt.interrupt(runStopping(runId))
      this.#giveUpQueued(attempt)
    }
  }

  /** Gives up every attempt that has not begun. */
  giveUpQueued(): void {
    for (const attempt of this.#all) this.#giveUpQueued(attempt)
  }

  /** The worker stops: signals every running handler. */
  interrupt(): void {
    for (const attempt of this.#all) attempt.interrupt(workerStopping())
  }

  /** Gives back every step whose handler still runs. This counts as no failure of the step. */
  release(): void {
    for (const attempt of this.#all) {
      if (attempt.phase === 'settling') continue
      this.#end(attempt, { type: 'given_up' })
      attempt.cutOff.cut()
    }
  }

  /** The worker lost its lease: signals every handler, and rolls transactions back. Results are still sent, and the store discards them. */
  lose(): void {
    for (const attempt of this.#all) this.#cutOff(attempt, leaseLost(attempt))
  }

  /** Other workers have these steps now. Results are still sent, and the store discards them. */
  drop(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      this.#cutOff(attempt, stepTaken(attempt))
      this.#giveUpQueued(attempt)
    }
  }

  /** Stops sending outcomes: the steps of those that are not recorded stay leased until the lease ends. */
  abandon(): void {
    this.#teller.abandon()
    this.#settler.abandon()
  }

  #accept(claim: Claim, origin: ClaimOrigin): void {
    const definition = this.#definitions.get(claim.definitionId)
    // The worker only asks for claims of its definitions, so this claim was not leased by its calls: ignore it.
    if (definition === undefined) return
    const attempt = attemptOf(claim, definition, this.#attemptParts, origin, this.#parts.aside)
    if (attempt === undefined) return
    this.#all.add(attempt)
    this.#parts.onBegin(claim)
    if (claim.input !== undefined) this.#payloads.rememberInput(claim.runId, claim.input)
    if (this.#capacity.isClosed) this.#end(attempt, { type: 'given_up' })
    else if (claim.direction === 'forward' && this.#stoppingRuns.has(claim.runId))
      void this.#performIfForward(attempt)
    else this.performer.perform(attempt)
  }

  /** Its run was stopping when this session last heard of it. But the claim may be older, or an operator may have sent the run forward again. */
  async #performIfForward(attempt: Attempt): Promise<void> {
    const runIds = [attempt.claim.runId]
    const stopping = await this.#parts.adapter.stopping({ runIds }).catch(() => runIds)
    // It may have been given up meanwhile.
    if (attempt.phase !== 'queued') return
    if (this.#capacity.isClosed || stopping.length > 0) {
      this.#giveUpQueued(attempt)
      return
    }
    this.#stoppingRuns.delete(attempt.claim.runId)
    this.performer.perform(attempt)
  }

  #giveUpQueued(attempt: Attempt): void {
    if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
  }

  /** Ends its transaction too: the fence would roll it back anyway, but until then it holds locks that the step's new worker may need. */
  #cutOff(attempt: Attempt, reason: BelayError): void {
    attempt.interrupt(reason)
    attempt.cutOff.cut()
  }

  #end(attempt: Attempt, end: AttemptEnd): void {
    if (attempt.phase === 'settling') {
      // Its handler ended after the step was given back.
      this.#reports.discarded(attempt, 'released')
      return
    }
    // It may wait for the turn of its transaction.
    if (attempt.phase === 'queued') attempt.cutOff.cut()
    attempt.decided()
    // What the handler told is stored before its outcome is.
    if (attempt.telling === undefined) this.#settle(attempt, end)
    else void this.#teller.flush(attempt, end).then(() => this.#settle(attempt, endOnceTold(attempt, end)))
  }

  #settle(attempt: Attempt, end: AttemptEnd): void {
    if (end.type === 'threw' || end.type === 'unstorable') this.#reports.failed(attempt, end)
    const pushing = pushBack(this.#parts, attempt, end)
    if (pushing === undefined) this.#record(attempt, end)
    else void pushing.then(() => this.#record(attempt, end))
  }

  #record(attempt: Attempt, end: AttemptEnd): void {
    this.#settler.settle({ item: attempt, outcome: outcomeOf(attempt, end, this.#parts) })
  }

  #settlerOptions(parts: AttemptsParts): SettlerOptions<Attempt> {
    return {
      ...parts,
      reserve: (entries) => reserveFor(entries, this.#capacity),
      frees: slotHolders,
      onResult: (entry, result) => this.#recorded(entry, result),
      onSettled: (settlement, entries) => this.#settled(settlement, entries),
      onUnsure: () => this.#capacity.doubt(),
      onHeldUp: ({ item }, error) => this.#reports.heldUp(item, error),
      onRefused: ({ item }, error) => void parts.aside.refused(settling(item), error),
      replacement: ({ item, outcome }, reason) => replacementFor(item, outcome, reason),
    }
  }

  #recorded({ item: attempt, outcome }: SettlerEntry<Attempt>, result: SettleResult): void {
    if (typeof result === 'object') return this.#left(attempt, result.full)
    const goesOn = outcome.type === 'decided' || outcome.type === 'enters'
    if (goesOn && result === 'settled') return this.#goOn(attempt, outcome.type)
    this.#all.delete(attempt)
    if (result !== 'abandoned' && !this.#parts.aside.isEmpty) this.#parts.aside.accepted(settling(attempt))
    if (attempt.origin === 'queue') this.#endedFromQueue += 1
    if (result === 'lost') this.#reports.discarded(attempt, 'lease_lost')
    if (result === 'settled') {
      rememberOutcome(this.#payloads, attempt, outcome)
      this.#reports.settled(attempt, outcome)
    }
    if (this.#stoppingRuns.has(outcome.runId)) this.#parts.onStoppingRunMoved(outcome.runId)
    if (result === 'abandoned') this.#capacity.recorded()
  }

  /** A limit had no slot, and the step does not wait for one: it was skipped, or its run was cancelled. */
  #left(attempt: Attempt, { of, ifFull }: LimitEntry): void {
    const ref = refOf(attempt.claim)
    if (of === 'step')
      return this.#recorded(
        { item: attempt, outcome: { ...ref, type: 'skipped', branch: ifFull! } },
        'settled',
      )
    this.#recorded({ item: attempt, outcome: { ...ref, type: 'released', begun: false } }, 'parked')
    this.#parts.onStoppingRunMoved(ref.runId)
  }

  /** It holds its step still, and its handler has yet to begin. Its run may have stopped meanwhile, or its worker. */
  #goOn(attempt: Attempt, after: 'decided' | 'enters'): void {
    attempt.goOn(after)
    const isStopping = attempt.isInterrupted || this.#stoppingRuns.has(attempt.claim.runId)
    if (this.#capacity.isClosed || isStopping) this.#giveUpQueued(attempt)
    else this.performer.resume(attempt)
  }

  #settled(settlement: Settlement, entries: readonly SettlerEntry<Attempt>[]): void {
    // A map with more items than slots says nothing about the steps of the queue.
    const overflow = settlement.queued && !entries.some(({ outcome }) => outcome.type === 'expanded')
    this.#parts.capacity.window.ended(this.#endedFromQueue, overflow)
    this.#endedFromQueue = 0
    this.accept(settlement.claims, 'handed back')
    this.#parts.onSettled(settlement, toTell(settlement, entries))
    this.#capacity.recorded()
  }
}
