import type { Clock } from '../../clock.ts'

/** What a worker notes of its calls to the store: numbers that the next call overwrites. */
export class Meter {
  /** Outcomes in the last batch that was settled, and in the largest. */
  batchLast = 0
  batchMax = 0
  /** How long the last answered calls took, in milliseconds. Null before the first. */
  settleMs: number | null = null
  claimMs: number | null = null
  readonly #clock: Clock
  /** Instant of the clock of the first call without an answer since the last one with an answer. */
  #outageAt: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  settled(outcomes: number, sentAt: number): void {
    this.batchLast = outcomes
    if (outcomes > this.batchMax) this.batchMax = outcomes
    this.settleMs = this.#clock.now() - sentAt
    this.answered()
  }

  claimed(sentAt: number): void {
    this.claimMs = this.#clock.now() - sentAt
    this.answered()
  }

  answered(): void {
    this.#outageAt = null
  }

  unanswered(): void {
    this.#outageAt ??= this.#clock.now()
  }

  /** For how long no call was answered, in milliseconds. Null if the last one was. */
  get outageMs(): number | null {
    return this.#outageAt === null ? null : this.#clock.now() - this.#outageAt
  }
}
