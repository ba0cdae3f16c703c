import {
  type Clock,
  callback,
  checkArgument,
  checkOptions,
  type Duration,
  duration,
  durationMs,
  having,
  type Kind,
  type OptionTable,
  Refusal,
  shown,
  type Timer,
} from '@belay/workflow/adapter'
import { TimerQueue } from './timer-queue.ts'
import { realTime, settleTurns } from './turn.ts'

const START = Date.UTC(2025, 0, 1)
// Without a pending timer, only real I/O can settle the promise. After this much real time, nothing will.
const REAL_GRACE_MS = 2_000
const LISTED_TIMERS_MAX = 10

const OPTIONS = {
  limit: { sets: 'how much virtual time may pass', takes: duration(0, '36500d'), default: '30d' },
} satisfies OptionTable

const MILLISECONDS: Kind<number> = {
  words: 'a number of milliseconds',
  read: (given) => (typeof given === 'number' && !Number.isNaN(given) ? given : new Refusal(shown(given))),
}

const INSTANT: Kind<number> = {
  words: 'an instant: epoch milliseconds or a Date',
  read: (given) => MILLISECONDS.read(given instanceof Date ? given.getTime() : given),
}

/** Time that stands still until a test moves it. */
export class VirtualClock implements Clock {
  readonly #startedAt: number
  readonly #timers = new TimerQueue()
  #now: number

  /** `start` is the first instant, in epoch milliseconds or as a Date. Default 2025-01-01 UTC. */
  constructor(start: number | Date = START) {
    this.#startedAt = checkArgument('VirtualClock()', 'the start', start, INSTANT)
    this.#now = this.#startedAt
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, fire: () => void): Timer {
    if (typeof delayMs !== 'number') checkArgument('after()', 'the delay', delayMs, MILLISECONDS)
    if (typeof fire !== 'function') checkArgument('after()', 'what it fires', fire, callback())
    const timer = this.#timers.insert(this.#now + Math.max(0, delayMs), fire)
    return { cancel: () => this.#timers.remove(timer) }
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** When the next timer is due, in epoch milliseconds; undefined without a pending timer. */
  get nextAt(): number | undefined {
    return this.#timers.next?.dueAt
  }

  /** Moves time forward. Fires each timer that falls due at its own instant, and lets awaiting code run in between. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(this.#now + durationMs(duration, 'advance(): the duration'))
  }

  /** Moves time forward to an instant, like {@link advance}. An instant in the past only lets awaiting code run. */
  async advanceTo(instant: number | Date): Promise<void> {
    const target = checkArgument('advanceTo()', 'the instant', instant, INSTANT)
    await settleTurns()
    for (let next = this.nextAt; next !== undefined && next <= target; next = this.nextAt) {
      this.#fireNext()
      await settleTurns()
    }
    this.#now = Math.max(this.#now, target)
    await settleTurns()
  }

  /**
   * Moves time from timer to timer until the promise settles, and settles with it. Rejects if `limit` of virtual time (default 30 days) has passed,
   * or if nothing is left that could settle it.
   */
  async runUntil<T>(promise: PromiseLike<T>, options: { readonly limit?: Duration } = {}): Promise<T> {
    checkArgument('runUntil()', 'the promise', promise, having<PromiseLike<T>>('a promise', ['then']))
    const { limit } = checkOptions('runUntil()', options, OPTIONS)
    const deadline = this.#now + limit
    const state = { settled: false }
    const settle = () => {
      state.settled = true
    }
    promise.then(settle, settle)
    await settleTurns()
    while (!state.settled) {
      const next = this.nextAt
      if (next === undefined) await this.#awaitOutside(state)
      else if (next > deadline) throw this.#overdue(`within ${limit} ms of virtual time`)
      else this.#fireNext()
      await settleTurns()
    }
    return promise
  }

  #fireNext(): void {
    const timer = this.#timers.next!
    this.#timers.remove(timer)
    this.#now = Math.max(this.#now, timer.dueAt)
    timer.fire()
  }

  async #awaitOutside(state: { readonly settled: boolean }): Promise<void> {
    const startedAt = performance.now()
    while (!state.settled && this.pending === 0) {
      if (performance.now() - startedAt > REAL_GRACE_MS)
        throw this.#overdue('and no timer is left that could settle it')
      await realTime(1)
    }
  }

  #overdue(reason: string): Error {
    const elapsedMs = this.#now - this.#startedAt
    return new Error(
      `The awaited promise did not settle, ${reason}. The virtual clock stands at +${elapsedMs} ms. ${this.#describePending()}`,
    )
  }

  #describePending(): string {
    const timers = this.#timers.list()
    if (timers.length === 0) return 'No timer is pending.'
    const listed = timers
      .slice(0, LISTED_TIMERS_MAX)
      .map((timer) => `${timer.fire.name || 'anonymous'} at +${timer.dueAt - this.#startedAt} ms`)
    const more = timers.length > listed.length ? `, and ${timers.length - listed.length} more` : ''
    return `Pending timers: ${listed.join(', ')}${more}.`
  }
}
