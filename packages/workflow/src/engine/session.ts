import pLimit, { type LimitFunction } from 'p-limit'
import type { Adapter, Claim, Outcome, Settlement } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import { Attempt, type AttemptParts, type Performance } from './attempt.ts'
import { decideOutcome, tryNumber } from './decide.ts'
import type { EventHub } from './events.ts'
import type { OutageWatch } from './outage.ts'
import { pause } from './runtime.ts'
import { type SettleResult, Settler } from './settler.ts'
import { outcomeEvent, stepEvent } from './step-events.ts'

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
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly onSettled: (settlement: Settlement) => void
  /** An attempt of a stopping run has ended: its undo may be due. */
  readonly onStoppingRunMoved: (runId: string) => void
  /** A slot or the last attempt went. */
  readonly onRoom: () => void
  readonly onRefused: (error: unknown) => void
}

/**
 * What one worker identity holds: its attempts, from claim to settled outcome. When the identity is lost, the session ends with it and the
 * worker opens another: the two never mix, because every attempt is settled under the identity it was claimed by.
 */
export class Session {
  readonly workerId: string
  /** Claims may exist that this session has not heard of: see `adopt`. */
  unsure = false
  readonly #parts: SessionParts
  readonly #attemptParts: AttemptParts
  readonly #settler: Settler
  readonly #limit: LimitFunction
  readonly #attempts = new Map<string, Attempt>()
  readonly #stoppingRuns = new Set<string>()
  #reserved = 0
  #leaving = false
  #lost = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.workerId = parts.workerId
    this.#limit = pLimit(parts.concurrency)
    this.#attemptParts = {
      ...parts,
      onCall: (attempt) => parts.events.emit('step.started', () => stepEvent(attempt, this.workerId)),
      onLateResult: (attempt) => this.#discard(attempt, 'timed_out'),
    }
    this.#settler = new Settler({
      adapter: parts.adapter,
      runtime: parts.runtime,
      outage: parts.outage,
      workerId: parts.workerId,
      room: () => this.room,
      onSettled: (settlement) => {
        this.accept(settlement.claims)
        parts.onSettled(settlement)
      },
      onUnsure: () => {
        this.unsure = true
      },
      onRefused: parts.onRefused,
    })
  }

  /** How many more steps it could take on. Attempts that only wait for their outcome to be recorded need no slot. */
  get room(): number {
    if (this.#leaving || this.#settler.backlog > BACKLOG_MAX) return 0
    return Math.max(
      0,
      this.#parts.concurrency - this.#limit.activeCount - this.#limit.pendingCount - this.#reserved,
    )
  }

  /** Attempts not yet settled. */
  get size(): number {
    return this.#attempts.size
  }

  /** Runs with a forward attempt in flight that was claimed before `instant` of the engine's clock. */
  forwardRuns(instant: number): string[] {
    const runs = new Set<string>()
    for (const { claim, phase, startedAt } of this.#attempts.values()) {
      if (claim.direction === 'forward' && phase === 'running' && startedAt < instant) runs.add(claim.runId)
    }
    return [...runs]
  }

  /** Leases ready steps for as many slots as are free. Tells whether there may be more of them. */
  async claim(definitionIds: readonly number[], limitMax: number): Promise<'more' | 'drained' | 'lost'> {
    const limit = Math.min(this.room, limitMax)
    if (limit === 0) return 'drained'
    this.#reserved += limit
    try {
      const claims = await this.#parts.adapter.claim({ workerId: this.workerId, definitionIds, limit })
      if (claims === 'lost') return 'lost'
      this.accept(claims)
      return claims.length < limit ? 'drained' : 'more'
    } catch (error) {
      this.unsure = true
      throw error
    } finally {
      this.#reserved -= limit
    }
  }

  /**
   * Finds claims whose answer never came, and takes them up. Nothing else may hand out or end claims meanwhile, or an attempt that has just
   * ended would be taken for an unknown one and run again.
   */
  async adopt(): Promise<void> {
    await this.#settler.pause()
    try {
      const held = await this.#parts.adapter.held({ workerId: this.workerId })
      this.unsure = false
      // Of a lost identity nothing is taken up or given back any more: the sweep does that, and counts the loss.
      if (!this.#lost) this.accept(held)
    } finally {
      this.#settler.resume()
    }
  }

  accept(claims: readonly Claim[]): void {
    for (const claim of claims) this.#begin(claim)
  }

  /** The run goes forward no more: signals its forward handlers, and lets go of what has not started. */
  stopRun(runId: string): void {
    if (this.#stoppingRuns.size >= STOPPING_MAX) this.#stoppingRuns.clear()
    this.#stoppingRuns.add(runId)
    for (const attempt of this.#attempts.values()) {
      if (attempt.claim.runId !== runId || attempt.claim.direction !== 'forward') continue
      attempt.interrupt(runStopping(runId))
      if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
    }
  }

  /** The identity is gone: signals every handler. Their results are still sent, and the store discards them. */
  lose(): number {
    this.#leaving = true
    this.#lost = true
    for (const attempt of this.#attempts.values()) attempt.interrupt(leaseLost(attempt))
    return this.#attempts.size
  }

  /** Takes on nothing new and lets go of what has not started. */
  leave(): void {
    this.#leaving = true
    for (const attempt of this.#attempts.values()) {
      if (attempt.phase === 'queued') this.#end(attempt, { type: 'given_up' })
    }
  }

  /** Asks running handlers to stop. */
  interruptAll(): void {
    for (const attempt of this.#attempts.values()) {
      attempt.interrupt(
        new BelayError('worker_stopping', 'The worker is stopping and cannot wait any longer.'),
      )
    }
  }

  /** Gives back every step whose handler still runs, without spending its attempt. */
  releaseAll(): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.phase !== 'settling') this.#end(attempt, { type: 'given_up' })
    }
  }

  /** Stops trying to reach the store: what is not recorded by now is left to the lease's end. */
  abandon(): void {
    this.#settler.abandon()
  }

  #begin(claim: Claim): void {
    const definition = this.#parts.definitions.get(claim.definitionId)
    // Claims are asked for by definition, so this is a claim of somebody else's making: not ours to run, nor to lose.
    if (definition === undefined) return
    const attempt = new Attempt(claim, definition, this.#attemptParts)
    if (this.#attempts.has(attempt.key)) return
    this.#attempts.set(attempt.key, attempt)
    const stopping = claim.direction === 'forward' && this.#stoppingRuns.has(claim.runId)
    if (this.#leaving || stopping) {
      this.#end(attempt, { type: 'given_up' })
      return
    }
    void this.#limit(() => this.#perform(attempt)).then((end) => {
      if (end !== undefined) this.#end(attempt, end)
      this.#parts.onRoom()
    })
  }

  async #perform(attempt: Attempt): Promise<Performance | undefined> {
    // Given up while it waited for a slot.
    if (attempt.phase === 'settling') return undefined
    for (;;) {
      try {
        return await attempt.perform()
      } catch (error) {
        if (BelayError.is(error) && error.code === 'unknown_run') return { type: 'given_up' }
        await pause(this.#parts.runtime.clock, this.#parts.outage.failed(error))
        if (this.#leaving) return { type: 'given_up' }
      }
    }
  }

  #end(attempt: Attempt, end: Performance): void {
    if (attempt.phase === 'settling') {
      // Its handler ended after the step was given back.
      this.#discard(attempt, 'released')
      return
    }
    attempt.phase = 'settling'
    const outcome = outcomeOf(attempt, end, this.#parts.runtime.random)
    this.#settler.settle(outcome, (result) => this.#settled(attempt, outcome, result))
  }

  #settled(attempt: Attempt, outcome: Outcome, result: SettleResult): void {
    const { payloads, events } = this.#parts
    this.#attempts.delete(attempt.key)
    if (result === 'lost') this.#discard(attempt, 'lease_lost')
    if (result === 'settled') {
      if (outcome.type === 'completed') payloads.rememberOutput(outcome.runId, outcome.step, outcome.output)
      const durationMs = this.#parts.runtime.clock.now() - attempt.startedAt
      outcomeEvent(events, outcome, () => ({ ...stepEvent(attempt, this.workerId), durationMs }))
    }
    if (this.#stoppingRuns.has(outcome.runId)) this.#parts.onStoppingRunMoved(outcome.runId)
    this.#parts.onRoom()
  }

  #discard(attempt: Attempt, reason: 'lease_lost' | 'released' | 'timed_out'): void {
    const event = stepEvent(attempt, this.workerId)
    this.#parts.log.warn('A result was discarded: its attempt was over.', { ...event, reason })
    this.#parts.events.emit('step.discarded', { ...event, reason })
  }
}

function outcomeOf(attempt: Attempt, end: Performance, random: () => number): Outcome {
  if (end.type !== 'relay') return decideOutcome(attempt.claim, attempt.step, end, random)
  const { failures: _, losses: __, undoOf, ...ref } = attempt.claim
  return { ...ref, type: 'relayed', undoOf: undoOf ?? 'completed' }
}

function leaseLost({ claim, step }: Attempt): BelayError {
  return new BelayError(
    'lease_lost',
    `Step "${step.name}" of run ${claim.runId} lost its lease: this worker did not renew it in time and was presumed dead. Its result will be discarded and the step runs again elsewhere. If the process was blocked, keep long computations off the event loop; if it was paused, raise \`lease\`.`,
    { runId: claim.runId, step: step.name, attempt: tryNumber(claim) },
  )
}

function runStopping(runId: string): BelayError {
  return new BelayError(
    'run_stopping',
    `Run ${runId} is being stopped: it failed elsewhere or was cancelled.`,
    {
      runId,
    },
  )
}
