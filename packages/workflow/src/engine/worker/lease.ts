import type { Clock } from '../../clock.ts'

/**
 * What a worker knows of its own lease. The store's clock decides when a lease ends; this process can only know until when it certainly
 * holds: for as long as it lasts, counted from before the call that extended it. After that somebody else may have the steps, so no handler
 * begins until the store has said that the lease goes on.
 */
export class Lease {
  readonly #clock: Clock
  readonly #leaseMs: number
  #holdsUntil: number
  #isOver = false
  #waiting: (() => void)[] = []

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#holdsUntil = clock.now() + leaseMs
  }

  /** Whether a handler may begin. */
  get holds(): boolean {
    return !this.#isOver && this.#clock.now() < this.#holdsUntil
  }

  /** The store has extended the lease by a call that was sent at this instant of the engine's clock. */
  extended(sentAt: number): void {
    this.#holdsUntil = Math.max(this.#holdsUntil, sentAt + this.#leaseMs)
    this.#tell()
  }

  /** The lease is lost or given up: nobody waits for it any more. */
  end(): void {
    this.#isOver = true
    this.#tell()
  }

  /** Resolves when the lease is known to hold, or to be over. */
  known(): Promise<void> {
    if (this.holds || this.#isOver) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #tell(): void {
    if (!this.holds && !this.#isOver) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
