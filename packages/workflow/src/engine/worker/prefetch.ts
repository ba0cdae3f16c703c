import type { Clock } from '../../clock.ts'

/** A step that is leased ahead should begin within this time. */
const SPAN_MS = 40
/** The most steps leased ahead of free slots. */
const AHEAD_MAX = 1_000

/**
 * How many steps a worker may lease beyond its free slots: as many as ended within {@link SPAN_MS}, so that slots don't stand empty while the store
 * answers, and calls carry more than a slotful. Slow handlers make it zero. So a step waits in one worker, while another may be idle, about as long
 * as that; and what waits is never more than this worker performs meanwhile.
 */
export class Prefetch {
  readonly #clock: Clock
  #since: number
  #ended = 0
  #endedBefore = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = clock.now()
  }

  get size(): number {
    this.#roll()
    return Math.min(AHEAD_MAX, Math.max(this.#ended, this.#endedBefore))
  }

  /** A handler has ended. */
  ended(): void {
    this.#roll()
    this.#ended += 1
  }

  /** Begins the next span if this one is over. What ended in a longer time counts as its share of one span. */
  #roll(): void {
    const now = this.#clock.now()
    const passed = now - this.#since
    if (passed < SPAN_MS) return
    this.#endedBefore = Math.floor((this.#ended * SPAN_MS) / passed)
    this.#ended = 0
    this.#since = now
  }
}
