/** A look at the whole queue that takes longer than this, plus SLOW_MS_PER_STEP for each row it dequeued, is scanning dead tuples. */
const SLOW_MS = 20
const SLOW_MS_PER_STEP = 0.1
/** After a slow look at the whole queue, marks are used for this many times its duration. So slow looks take at most a tenth of the time. */
const REST = 10
/** The same after a look that was made at once, because this process had placed a step that may lie behind a mark. */
const REST_FROM_PLACED = 3
/** How far behind its mark a look begins, in seconds: a step may become due before another one and be committed after it. */
const OVERLAP_SECONDS = 0.1

export interface Look {
  /** For each definition, the time from which to look, in seconds of the epoch. */
  readonly since: readonly number[]
  end(found: {
    readonly dequeued: number
    readonly definition_ids: readonly number[] | null
    readonly marks: readonly number[] | null
    /** Measured by the server: in a process whose event loop is blocked, a local measurement would include that delay. */
    readonly took_ms: number
  }): void
}

/**
 * How far the queue has been claimed. While somebody holds a snapshot open, for a backup or a long report, Postgres keeps every row dequeued since.
 * Each claim would then scan all these dead tuples before the first live row, and claims would get slower and slower. So when looks become slow, most
 * of them begin where the last one ended. The next look at the whole queue finds what became due earlier but was committed later.
 */
export class ClaimMarks {
  readonly #now: () => number
  readonly #marks = new Map<number, number>()
  /** Until this time, looks begin at the marks. */
  #restsUntil = Number.NEGATIVE_INFINITY
  #restsFromPlacedUntil = Number.NEGATIVE_INFINITY
  /** This process has placed steps behind the marks since the last look at the whole queue. */
  #hasPlaced = false

  /** `now` in milliseconds, from any origin. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Undos, and steps with a priority, are placed before their time, so perhaps behind a mark. If this process placed them, its next look is at
   * the whole queue, unless such a look was slow just now; those of other processes are found when the marks rest no more.
   */
  placedBehind(): void {
    this.#hasPlaced = true
  }

  begin(definitionIds: readonly number[]): Look {
    const isDue = this.#now() >= this.#restsUntil
    const isWhole = isDue || (this.#hasPlaced && this.#now() >= this.#restsFromPlacedUntil)
    if (isWhole) this.#hasPlaced = false
    return {
      since: definitionIds.map(
        (id) => (isWhole ? undefined : this.#marks.get(id)) ?? Number.NEGATIVE_INFINITY,
      ),
      end: ({ dequeued, definition_ids, marks, took_ms: tookMs }) => {
        definition_ids?.forEach((id, index) => {
          this.#marks.set(id, marks![index]! - OVERLAP_SECONDS)
        })
        const isSlow = tookMs > SLOW_MS + dequeued * SLOW_MS_PER_STEP
        if (!isWhole || !isSlow) return
        this.#restsUntil = this.#now() + tookMs * REST
        if (!isDue) this.#restsFromPlacedUntil = this.#now() + tookMs * REST_FROM_PLACED
      },
    }
  }
}
