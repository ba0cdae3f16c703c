/** A statement that takes longer than this never ends: the world could not go on. */
const LIMIT_MS = 60_000

/** Counts what goes on in real time, so that virtual time can wait for it. */
export class InFlight {
  readonly #open = new Map<symbol, string>()
  #quiet: (() => void) | undefined

  get isQuiet(): boolean {
    return this.#open.size === 0
  }

  /** Something begins that virtual time must wait for. Returns how to say that it has ended. */
  begin(what: string): () => void {
    const entry = Symbol(what)
    this.#open.set(entry, what)
    return () => {
      this.#open.delete(entry)
      if (this.isQuiet) this.#quiet?.()
    }
  }

  async during<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    const end = this.begin(what)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Resolves once nothing goes on. Rejects when that takes too long, with what does. */
  async quiet(): Promise<void> {
    if (this.isQuiet) return
    let limit: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve, reject) => {
      this.#quiet = resolve
      const stuck = () => new Error(`The store never answered: ${[...this.#open.values()].join(', ')}.`)
      limit = setTimeout(() => reject(stuck()), LIMIT_MS)
    }).finally(() => clearTimeout(limit))
    this.#quiet = undefined
  }
}
