/** Lets so many calls go on at once; the others wait, first come first served. */
export class Turns {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken < this.#max) this.#taken += 1
    // Whoever ends passes its turn on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken -= 1
      else next()
    }
  }
}
