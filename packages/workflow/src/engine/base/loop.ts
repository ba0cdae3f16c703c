import type { Stillness } from '../../adapter/index.ts'
import type { Clock, Recurrence, Timer } from '../../clock.ts'

export interface LoopOptions {
  readonly clock: Clock
  /** The time from the end of a round to the next one, in milliseconds; read after each round. */
  readonly intervalMs: number | (() => number)
  /** One round. Never runs twice at once. */
  readonly work: () => Promise<void>
  /** Called when a round throws. Returns the delay before the next round, in milliseconds. Until then wake() has no effect. */
  readonly onError: (error: unknown) => number
  /** True when there is no work until wake() is called. The loop then sets no timer, so it does not keep the process alive. */
  readonly mayRest?: () => boolean
  /** Lets a virtual clock leave out rounds that would find nothing. */
  readonly idling?: Idling | undefined
}

/** When a loop has nothing to do, if the store has not changed since its last round began. */
export interface Idling extends Pick<Recurrence, 'catchesUp' | 'isBusy'> {
  readonly stillness: Stillness
  /** The first instant at which a round may find something. */
  readonly until: () => number
}

export const NOW = Number.NEGATIVE_INFINITY
export const NEVER = Number.POSITIVE_INFINITY

/** Undefined for a store that does not know its future. */
export function idlingOf(
  stillness: Stillness | undefined,
  until: (stillness: Stillness) => number,
): Idling | undefined {
  return stillness && { stillness, until: () => until(stillness) }
}

/** Repeats a piece of work: at once when woken, else after an interval; one round at a time. */
export class Loop {
  readonly #options: LoopOptions
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  #wokenMeanwhile = false
  #backingOff = false
  #stopped = false
  /** The store's changes when the last round began. */
  #seen = Number.NaN

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** Whether the next round is sure to come: no round is under way, and none has failed. */
  get isResting(): boolean {
    return this.#round === undefined && !this.#backingOff && !this.#stopped
  }

  /** Runs a round now, or right after the current one. */
  wake(): void {
    if (this.#stopped || this.#backingOff) return
    if (this.#round !== undefined) {
      this.#wokenMeanwhile = true
      return
    }
    this.#timer?.cancel()
    this.#round = this.#run()
  }

  /** Ends the loop. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#round
  }

  async #run(): Promise<void> {
    let retryMs: number | undefined
    do {
      this.#wokenMeanwhile = false
      this.#seen = this.#options.idling?.stillness.changes ?? Number.NaN
      try {
        await this.#options.work()
      } catch (error) {
        retryMs = this.#options.onError(error)
        this.#backingOff = true
      }
    } while (this.#wokenMeanwhile && !this.#backingOff && !this.#stopped)
    this.#round = undefined
    if (this.#stopped || (!this.#backingOff && this.#options.mayRest?.() === true)) return
    const { clock, intervalMs } = this.#options
    const delayMs = retryMs ?? (typeof intervalMs === 'number' ? intervalMs : intervalMs())
    const fire = () => {
      this.#backingOff = false
      this.wake()
    }
    this.#timer = clock.after(delayMs, fire, retryMs === undefined ? this.#recurrence(delayMs) : undefined)
  }

  #recurrence(everyMs: number): Recurrence | undefined {
    const { idling } = this.#options
    if (idling === undefined) return undefined
    const { stillness, until, catchesUp = false, isBusy } = idling
    // Renewals change nothing that others look for, so they need not wait for a change.
    const isStill = () => (catchesUp ? !Number.isNaN(stillness.changes) : stillness.changes === this.#seen)
    const idleUntil = () => (isStill() ? until() : Number.NEGATIVE_INFINITY)
    return { everyMs, idleUntil, catchesUp, ...(isBusy === undefined ? {} : { isBusy }) }
  }
}
