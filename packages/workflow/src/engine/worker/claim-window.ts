/** The initial window; it doubles with every round that goes well. */
const START = 32
const LEAST = 16

/**
 * Limits how many steps from the queue a worker has under way at once, in addition to its slots. It sizes itself.
 *
 * A step may make fifty dependents ready, which the worker takes on directly if it has free slots. Without a limit it would claim so many steps
 * that most dependents would go through the queue, at twice the cost. So the window grows while the dependents of claimed steps find slots, and is
 * halved when they do not.
 */
export class ClaimWindow {
  #size = START
  #underWay = 0
  #overflowed = false

  get room(): number {
    return Math.max(0, this.#size - this.#underWay)
  }

  /** Whether it leaves no slot empty, so that {@link waited} would not change it. */
  isOpenTo(slots: number): boolean {
    return this.#size >= slots
  }

  claimed(steps: number): void {
    this.#underWay += steps
  }

  /** Claimed steps have ended. `overflow`: not all their dependents found slots. */
  ended(steps: number, overflow: boolean): void {
    this.#underWay -= steps
    if (overflow) {
      this.#overflowed = true
      this.#size = Math.max(LEAST, this.#size >> 1)
    } else if (steps > 0) {
      // Doubles each round until the first overflow, then grows by a quarter.
      this.#size += this.#overflowed ? Math.ceil(steps / 4) : steps
    }
  }

  /** Called after a while without an end: long steps give no feedback, and must not leave slots empty. */
  waited(slots: number): void {
    this.#size = Math.max(this.#size, Math.min(slots, this.#size * 2))
  }
}
