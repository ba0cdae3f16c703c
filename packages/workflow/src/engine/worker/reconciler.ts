import { type Adapter, attemptKey, type Claim } from '../../adapter/index.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { SetAside } from '../base/set-aside.ts'
import type { Attempts } from './attempts.ts'
import type { Capacity } from './capacity.ts'

const COMPARING = 'comparing leases'

export interface ReconcilerParts {
  readonly adapter: Adapter
  readonly aside: SetAside
  readonly workerId: string
  readonly capacity: Capacity
  /** Everything the session knows that it holds. */
  readonly attempts: Attempts
  /** Whether this process has the definition of the claim. */
  readonly canRun: (claim: Claim) => boolean
}

/**
 * Compares the steps that the store holds for a worker with those the worker knows, while work goes on, and repairs differences.
 *
 * A step can be leased although the answer never reaches the worker: the answer is lost, or a statement commits after its client gave up. And a
 * step can be taken from the worker. The comparison finds both within one lease, whatever the cause.
 *
 * A difference counts only when seen twice. One look proves nothing, because a step that the worker does not know may be in an answer on its way.
 * If the step is still unknown when every such call has ended, no answer will ever contain it: the fence is part of the comparison, so no later
 * call can lease the same attempt.
 */
export class Reconciler {
  readonly #parts: ReconcilerParts
  /** Attempts that the store holds but the session does not know, each with the mark of the calls that may still deliver it. */
  #unknown = new Map<string, number>()
  /** Attempts that the session knows but the store does not hold. */
  #missing = new Set<string>()
  /** Every attempt known at any moment of the current look; null between looks. */
  #seen: Set<string> | null = null

  constructor(parts: ReconcilerParts) {
    this.#parts = parts
  }

  /** A claim was taken on. */
  began(claim: Claim): void {
    this.#seen?.add(attemptKey(claim))
  }

  /** Compares once. Resolves to the number of differences that another look must confirm. */
  async compare(): Promise<number> {
    const { workerId, capacity, attempts } = this.#parts
    const before = [...attempts]
    this.#seen = new Set(before.map(({ claim }) => attemptKey(claim)))
    const wasDoubted = capacity.takeDoubt()
    try {
      const { held, unread } = await this.#held(workerId)
      this.#mendUnknown(held, this.#seen)
      // The answer says nothing of a run that the store could not read: its attempts go on.
      this.#mendMissing(
        held,
        before.filter(({ claim }) => !unread.has(claim.runId)),
      )
    } catch (error) {
      capacity.keepDoubt(wasDoubted)
      throw error
    } finally {
      this.#seen = null
    }
    const open = this.#unknown.size + this.#missing.size
    capacity.keepDoubt(wasDoubted && open > 0)
    return open
  }

  async #held(workerId: string) {
    const { adapter, aside } = this.#parts
    const unread = new Set<string>()
    const held = await adapter.held({
      workerId,
      onRefused: ({ runId, error }) => {
        unread.add(runId)
        aside.refused({ during: COMPARING, runId }, error)
      },
    })
    aside.acceptedRuns(COMPARING, held)
    return { held, unread }
  }

  #mendUnknown(held: readonly Claim[], seen: ReadonlySet<string>): void {
    const { capacity, canRun, attempts } = this.#parts
    const mark = capacity.mark()
    const unknown = new Map<string, number>()
    const adopted: Claim[] = []
    for (const claim of held) {
      const key = attemptKey(claim)
      // This worker only asks for claims it can run, so another claim was not leased by its calls: ignore it.
      if (seen.has(key) || !canRun(claim)) continue
      const firstSeen = this.#unknown.get(key)
      if (firstSeen !== undefined && capacity.haveEndedBefore(firstSeen)) adopted.push(claim)
      else unknown.set(key, firstSeen ?? mark)
    }
    this.#unknown = unknown
    if (adopted.length > 0) attempts.adopt(adopted)
  }

  #mendMissing(held: readonly Claim[], before: readonly Attempt[]): void {
    const heldKeys = new Set(held.map(attemptKey))
    const known = new Set(this.#parts.attempts)
    const missing = new Set<string>()
    const dropped: Attempt[] = []
    for (const attempt of before) {
      const key = attemptKey(attempt.claim)
      // The settlement tells what became of an attempt that is being settled.
      if (heldKeys.has(key) || attempt.phase === 'settling' || !known.has(attempt)) continue
      if (this.#missing.has(key)) dropped.push(attempt)
      else missing.add(key)
    }
    this.#missing = missing
    if (dropped.length > 0) this.#parts.attempts.drop(dropped)
  }
}
