const FRESH_MS = 1_000
const KEPT_MAX = 1_000

/** Reads that all viewers share: of one key, one call at a time, and its answer for a second, or longer where that is said. */
export class Shared {
  readonly #now: () => number
  #reads = new Map<string, Read>()
  #forgotAt = 0
  #writes = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The answer of `read`, or that of an earlier one with the same key. A failure is not kept. */
  read<Answer>(key: string, read: () => Promise<Answer>, freshMs = FRESH_MS): Promise<Answer> {
    const known = this.#reads.get(key)
    if (known !== undefined && (known.until === undefined || known.until > this.#now())) {
      return known.answer as Promise<Answer>
    }
    const reads = this.#reads
    const answer = read()
    const own: Read = { answer, until: undefined }
    reads.delete(key)
    reads.set(key, own)
    this.#forgetOld()
    answer.then(
      () => {
        own.until = this.#now() + freshMs
      },
      () => {
        if (reads.get(key) === own) reads.delete(key)
      },
    )
    return answer
  }

  /** After a write nobody sees what was read before it, nor what is being read. */
  clear(): void {
    this.#reads = new Map()
    this.#writes += 1
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#reads.size
  }

  /** How many there have been. */
  get writes(): number {
    return this.#writes
  }

  /** Once a second what is over, and at once what is too many. */
  #forgetOld(): void {
    const now = this.#now()
    if (this.#reads.size <= KEPT_MAX && now < this.#forgotAt + FRESH_MS) return
    this.#forgotAt = now
    for (const [key, { until }] of this.#reads) {
      if (until !== undefined && until <= now) this.#reads.delete(key)
    }
    // So many different reads within a second: the oldest are the least likely to be asked for again.
    for (const key of this.#reads.keys()) {
      if (this.#reads.size <= KEPT_MAX) return
      this.#reads.delete(key)
    }
  }
}

interface Read {
  readonly answer: Promise<unknown>
  /** Undefined while it is being read. */
  until: number | undefined
}
