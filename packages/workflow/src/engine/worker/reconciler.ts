import { type Adapter, attemptKey, type Claim } from '../../adapter/index.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { Capacity } from './capacity.ts'

export interface ReconcilerParts {
  readonly adapter: Adapter
  readonly workerId: string
  readonly capacity: Capacity
  /** Everything the session knows that it holds. */
  readonly attempts: () => Iterable<Attempt>
  /** Whether this process has what it takes to run the claim. */
  readonly canRun: (claim: Claim) => boolean
  /** Takes on what the store has leased to this worker and the session did not know. */
  readonly adopt: (claims: readonly Claim[]) => void
  /** The store does not hold these for this worker any more. */
  readonly drop: (attempts: readonly Attempt[]) => void
}

/**
 * Compares what the store holds for a worker with what the worker knows, beside everything else that goes on, and mends the difference.
 *
 * A step can be leased without the worker hearing of it: an answer is lost, or a statement that the client gave up long ago commits after
 * all. And a step can be taken from it. Both are found here, whatever the cause, within one lease.
 *
 * A difference counts when it was seen twice. One look proves nothing, because calls are under way: a step that the store holds and the
 * worker doesn't know may be the answer of a call, just underway. When every such call has ended and the step is still unknown, nobody
 * will ever tell of it: attempts are numbered, so no later call can hand out the same one.
 */
export class Reconciler {
  readonly #parts: ReconcilerParts
  /** Attempts that the store holds and the session does not know, with the mark of the calls that may still tell of them. */
  #unknown = new Map<string, number>()
  /** Attempts that the session knows and the store does not hold. */
  #missing = new Set<string>()
  /** What was known at any moment of the look under way; null while none is. */
  #seen: Set<string> | null = null
  #doubted = false

  constructor(parts: ReconcilerParts) {
    this.#parts = parts
  }

  /** Whether an answer was lost since the last look that found no difference. */
  get isDoubted(): boolean {
    return this.#doubted
  }

  /** A call that may have leased steps was not answered. */
  doubt(): void {
    this.#doubted = true
  }

  /** A claim was taken on. */
  began(claim: Claim): void {
    this.#seen?.add(attemptKey(claim))
  }

  /** Looks once. Returns how many differences another look has to confirm. */
  async compare(): Promise<number> {
    const { adapter, workerId } = this.#parts
    const before = [...this.#parts.attempts()]
    this.#seen = new Set(before.map(({ claim }) => attemptKey(claim)))
    const wasDoubted = this.#doubted
    this.#doubted = false
    try {
      const held = await adapter.held({ workerId })
      this.#mendUnknown(held, this.#seen)
      this.#mendMissing(held, before)
    } catch (error) {
      this.#doubted ||= wasDoubted
      throw error
    } finally {
      this.#seen = null
    }
    const open = this.#unknown.size + this.#missing.size
    if (wasDoubted && open > 0) this.#doubted = true
    return open
  }

  #mendUnknown(held: readonly Claim[], seen: ReadonlySet<string>): void {
    const { capacity, canRun, adopt } = this.#parts
    const mark = capacity.mark()
    const unknown = new Map<string, number>()
    const adopted: Claim[] = []
    for (const claim of held) {
      const key = attemptKey(claim)
      // Claims are asked for by definition, so another one is of somebody else's making: not ours to run, nor to lose.
      if (seen.has(key) || !canRun(claim)) continue
      const firstSeen = this.#unknown.get(key)
      if (firstSeen !== undefined && capacity.haveEndedBefore(firstSeen)) adopted.push(claim)
      else unknown.set(key, firstSeen ?? mark)
    }
    this.#unknown = unknown
    if (adopted.length > 0) adopt(adopted)
  }

  #mendMissing(held: readonly Claim[], before: readonly Attempt[]): void {
    const heldKeys = new Set(held.map(attemptKey))
    const known = new Set(this.#parts.attempts())
    const missing = new Set<string>()
    const dropped: Attempt[] = []
    for (const attempt of before) {
      const key = attemptKey(attempt.claim)
      // One that is being settled is answered by its settlement.
      if (heldKeys.has(key) || attempt.phase === 'settling' || !known.has(attempt)) continue
      if (this.#missing.has(key)) dropped.push(attempt)
      else missing.add(key)
    }
    this.#missing = missing
    if (dropped.length > 0) this.#parts.drop(dropped)
  }
}
