/** Lets at most `max` calls run at once. The others wait, first come first served. */
export class Turns {
  readonly #max: number
  readonly #waiting = new Set<(isMine: boolean) => void>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Resolves to undefined if `signal` fires before the turn comes. */
  async take<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result | undefined> {
    if (!(await this.#turn(signal))) return undefined
    try {
      return await work()
    } finally {
      // A call that ends passes its turn on.
      const [next] = this.#waiting
      if (next === undefined) this.#taken -= 1
      else next(true)
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted === true) return false
    if (this.#taken < this.#max) {
      this.#taken += 1
      return true
    }
    return new Promise((resolve) => {
      const end = (isMine: boolean) => {
        this.#waiting.delete(end)
        signal?.removeEventListener('abort', giveUp)
        resolve(isMine)
      }
      const giveUp = () => end(false)
      this.#waiting.add(end)
      signal?.addEventListener('abort', giveUp)
    })
  }
}
