import type { Clock, Recurrence, Timer } from '@belay/workflow/adapter'

/** The clock of one process among others on the same time. When the process dies, its timers die with it. */
export class ProcessClock implements Clock {
  readonly #clock: Clock
  readonly #timers = new Set<Timer>()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  after(delayMs: number, fire: () => void, recurrence?: Recurrence): Timer {
    if (this.#isStopped) return { cancel: () => {} }
    const pending = this.#clock.after(
      delayMs,
      () => {
        this.#timers.delete(timer)
        fire()
      },
      recurrence,
    )
    const timer: Timer = {
      cancel: () => {
        this.#timers.delete(timer)
        pending.cancel()
      },
    }
    this.#timers.add(timer)
    return timer
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of [...this.#timers]) timer.cancel()
  }
}
