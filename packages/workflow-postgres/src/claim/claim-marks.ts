/** A look at the whole queue that takes longer than this, and than what it found explains, walks over what is dead. */
const SLOW_MS = 20
const SLOW_MS_PER_STEP = 0.1
/** After a slow look at the whole queue, marks serve for so many times as long: the most that looking costs is one part in so many. */
const REST = 10
/** How far behind a mark is looked, in seconds: a step may have become due before another and be committed after it. */
const OVERLAP_SECONDS = 0.1

export interface Look {
  /** For each definition from when on it is looked, in seconds of the epoch. */
  readonly since: readonly number[]
  end(found: {
    readonly dequeued: number
    readonly definition_ids: readonly number[] | null
    readonly marks: readonly number[] | null
    /** As the server says: a process whose event loop is blocked must not take its own delay for the queue's. */
    readonly took_ms: number
  }): void
}

/**
 * How far the queue has been claimed. While somebody holds a snapshot open, for a backup or a long report, Postgres keeps every row that was
 * dequeued since, and each claim would walk over all of them to the first that is alive: the more was done, the slower it went. So when
 * looks become slow, most of them begin where the last one ended. What became due before and was committed later is found by the next look
 * at the whole.
 */
export class ClaimMarks {
  readonly #now: () => number
  readonly #marks = new Map<number, number>()
  /** Until when marks serve. */
  #restsUntil = Number.NEGATIVE_INFINITY

  /** `now` in milliseconds, from any origin. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  begin(definitionIds: readonly number[]): Look {
    const isWhole = this.#now() >= this.#restsUntil
    return {
      since: definitionIds.map(
        (id) => (isWhole ? undefined : this.#marks.get(id)) ?? Number.NEGATIVE_INFINITY,
      ),
      end: ({ dequeued, definition_ids, marks, took_ms: tookMs }) => {
        definition_ids?.forEach((id, index) => {
          this.#marks.set(id, marks![index]! - OVERLAP_SECONDS)
        })
        const isSlow = tookMs > SLOW_MS + dequeued * SLOW_MS_PER_STEP
        if (isWhole && isSlow) this.#restsUntil = this.#now() + tookMs * REST
      },
    }
  }
}
