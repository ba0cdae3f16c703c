/** Claimed steps under way that a worker begins with; it doubles with every round that goes well. */
const START = 32
const LEAST = 16

/**
 * How many steps taken from the queue a worker has under way at once, besides its slots: it sizes itself.
 *
 * A step that others depend on may bring fifty more, which the worker takes on at once if it has room for them. Without a bound it would
 * first claim all such steps there are, and most of what they bring would go through the queue, at twice the price. So the window grows
 * while what claimed steps bring finds room, and is halved when it does not.
 */
export class ClaimWindow {
  #size = START
  #underWay = 0
  #overflowed = false

  get room(): number {
    return Math.max(0, this.#size - this.#underWay)
  }

  claimed(steps: number): void {
    this.#underWay += steps
  }

  /** Claimed steps have ended; `overflow` tells that what they brought did not all find room. */
  ended(steps: number, overflow: boolean): void {
    this.#underWay -= steps
    if (overflow) {
      this.#overflowed = true
      this.#size = Math.max(LEAST, this.#size >> 1)
    } else if (steps > 0) {
      // Doubles each round until it has been too much once, and then feels its way.
      this.#size += this.#overflowed ? Math.ceil(steps / 4) : steps
    }
  }

  /** A while has passed: steps that take long bring nothing to judge by, and must not leave slots empty. */
  waited(slots: number): void {
    this.#size = Math.max(this.#size, Math.min(slots, this.#size * 2))
  }
}
