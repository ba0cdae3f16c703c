import type { Clock, Timer } from '../../clock.ts'

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
}

/** Repeats a piece of work: at once when woken, else after an interval; one round at a time. */
export class Loop {
  readonly #options: LoopOptions
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  #wokenMeanwhile = false
  #backingOff = false
  #stopped = false

  constructor(options: LoopOptions) {
    this.#options = options
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
    this.#timer = clock.after(delayMs, () => {
      this.#backingOff = false
      this.wake()
    })
  }
}
