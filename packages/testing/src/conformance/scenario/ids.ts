/** Ids in the order of their creation, like the engine's, and the same in every repetition of a test. */
export class Ids {
  #made = 0

  runId(): string {
    return `01920000-0000-7000-8000-${this.#next()}`
  }

  workerId(): string {
    return `0192ffff-0000-7000-8000-${this.#next()}`
  }

  #next(): string {
    this.#made += 1
    return this.#made.toString(16).padStart(12, '0')
  }
}
