/** A statement that takes longer is waiting for somebody in the world, such as an open transaction. Meanwhile the world continues. */
const PATIENCE_MS = 1_500
/** Once nothing else can happen in the world, what waits must end within this. */
const LIMIT_MS = 60_000

/** Counts what happens in real time, so that virtual time can wait for it. */
export class InFlight {
  readonly #open = new Set<symbol>()
  readonly #waiting = new Set<symbol>()
  #changed: () => void = () => {}

  get isQuiet(): boolean {
    return this.#open.size === 0
  }

  /** Begins something for which virtual time must wait. Returns a function that ends it. */
  begin(what: string): () => void {
    const entry = Symbol(what)
    this.#open.add(entry)
    return () => {
      this.#open.delete(entry)
      this.#waiting.delete(entry)
      this.#changed()
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

  /** Resolves when everything has ended except what waits for somebody else. */
  async quiet(): Promise<void> {
    const isPatient = await this.#until(() => this.isQuiet, PATIENCE_MS)
    if (isPatient) return
    for (const entry of this.#open) this.#waiting.add(entry)
    this.#open.clear()
  }

  /** Resolves true when something that waited has ended, false if nothing does. */
  async waited(): Promise<boolean> {
    const before = this.#waiting.size
    return before > 0 && this.#until(() => this.#waiting.size < before, LIMIT_MS)
  }

  #until(holds: () => boolean, limitMs: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (answer: boolean) => {
        clearTimeout(limit)
        this.#changed = () => {}
        resolve(answer)
      }
      const limit = setTimeout(() => end(false), limitMs)
      this.#changed = () => {
        if (holds()) end(true)
      }
    })
  }
}
