/** A timer that has neither fired nor been cancelled. */
export interface PendingTimer {
  readonly dueAt: number
  /** Breaks ties: timers due at one instant fire in the order they were set. */
  readonly order: number
  readonly fire: () => void
}

/** Pending timers in the order in which they fire. Sorted on insertion, because reading the front is the most frequent operation. */
export class TimerQueue {
  readonly #timers: PendingTimer[] = []
  #inserted = 0

  get size(): number {
    return this.#timers.length
  }

  get next(): PendingTimer | undefined {
    return this.#timers[0]
  }

  list(): readonly PendingTimer[] {
    return [...this.#timers]
  }

  insert(dueAt: number, fire: () => void): PendingTimer {
    const timer = { dueAt, order: this.#inserted++, fire }
    this.#timers.splice(this.#position(timer), 0, timer)
    return timer
  }

  /** Removes a timer. Does nothing if it has fired or was already removed. */
  remove(timer: PendingTimer): void {
    const position = this.#position(timer)
    if (this.#timers[position] === timer) this.#timers.splice(position, 1)
  }

  #position(timer: Omit<PendingTimer, 'fire'>): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#timers[middle]!, timer)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function isBefore(one: Omit<PendingTimer, 'fire'>, other: Omit<PendingTimer, 'fire'>): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order)
}
