import type { Clock } from '../../clock.ts'

/**
 * What a worker knows about its own lease. The store's clock decides when a lease ends. This process only knows until when the lease certainly
 * holds: for its length, counted from before the call that extended it. After that another worker may have the steps, so no handler begins until
 * the store confirms the lease.
 */
export class Lease {
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #onDoubted: () => void
  #holdsUntil: number
  #isOver = false
  #waiting: (() => void)[] = []

  /** `onDoubted`: something waits until the store confirms the lease. */
  constructor(clock: Clock, leaseMs: number, onDoubted: () => void) {
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#onDoubted = onDoubted
    this.#holdsUntil = clock.now() + leaseMs
  }

  /** Whether a handler may begin. */
  get holds(): boolean {
    return !this.#isOver && this.#clock.now() < this.#holdsUntil
  }

  /** The store has extended the lease. `sentAt` is when the call was sent, by the engine's clock. */
  extended(sentAt: number): void {
    this.#holdsUntil = Math.max(this.#holdsUntil, sentAt + this.#leaseMs)
    this.#answerWaits()
  }

  /** The lease is lost or given up: ends all waits for it. */
  end(): void {
    this.#isOver = true
    this.#answerWaits()
  }

  /** Resolves when the lease is known to hold or to have ended. */
  known(): Promise<void> {
    if (this.holds || this.#isOver) return Promise.resolve()
    this.#onDoubted()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #answerWaits(): void {
    if (!this.holds && !this.#isOver) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
