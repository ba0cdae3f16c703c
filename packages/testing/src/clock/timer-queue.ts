import type { Recurrence } from '@belay/workflow/adapter'

/** A timer that has neither fired nor been cancelled. */
export interface PendingTimer {
  readonly dueAt: number
  /** Breaks ties: of timers due at one instant, the one that was set first fires first. */
  readonly setAt: number
  readonly order: number
  readonly fire: () => void
}

/** A timer of a loop. Moves on by itself past firings that were left out. */
export interface RecurringTimer extends PendingTimer {
  dueAt: number
  setAt: number
  readonly recurrence: Recurrence
}

/** Pending timers in the order in which they fire. Sorted on insertion, because reading the front is the most frequent operation. */
export class TimerQueue {
  readonly #timers: PendingTimer[] = []

  get size(): number {
    return this.#timers.length
  }

  get next(): PendingTimer | undefined {
    return this.#timers[0]
  }

  list(): readonly PendingTimer[] {
    return [...this.#timers]
  }

  insert(timer: PendingTimer): void {
    this.#timers.splice(this.#position(timer), 0, timer)
  }

  /** Removes a timer. Does nothing if it has fired or was already removed. */
  remove(timer: PendingTimer): void {
    const position = this.#position(timer)
    if (this.#timers[position] === timer) this.#timers.splice(position, 1)
  }

  #position(timer: PendingTimer): number {
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

export function isBefore(one: Omit<PendingTimer, 'fire'>, other: Omit<PendingTimer, 'fire'>): boolean {
  if (one.dueAt !== other.dueAt) return one.dueAt < other.dueAt
  return one.setAt === other.setAt ? one.order < other.order : one.setAt < other.setAt
}
