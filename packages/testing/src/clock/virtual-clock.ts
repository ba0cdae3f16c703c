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
  type Recurrence,
  Refusal,
  shown,
  type Timer,
} from '@belay/workflow/adapter'
import { LoopTimers } from './loop-timers.ts'
import { StandstillWatch } from './standstill-watch.ts'
import { isBefore, type PendingTimer, TimerQueue } from './timer-queue.ts'
import { letRealWorkEnd, realMs, realTime, settleTurns } from './turn.ts'

const START = Date.UTC(2025, 0, 1)
// Without a timer that is due, only real I/O can settle the promise. After this much real time, nothing will.
const REAL_GRACE_MS = 2_000
/** As long as handlers run, real I/O may take its time. */
const BUSY_GRACE_MS = 60_000
/** Before time moves further than this, handlers that run get a moment for real I/O. */
const LEAP_MS = 1_000
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
  readonly #loops = new LoopTimers()
  readonly #standstills: StandstillWatch
  #now: number
  #order = 0

  /** `start` is the first instant, in epoch milliseconds or as a Date. Default 2025-01-01 UTC. */
  constructor(start: number | Date = START) {
    this.#startedAt = checkArgument('VirtualClock()', 'the start', start, INSTANT)
    this.#now = this.#startedAt
    this.#standstills = new StandstillWatch(() => this.#loops.isBusy)
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, fire: () => void, recurrence?: Recurrence): Timer {
    if (typeof delayMs !== 'number') checkArgument('after()', 'the delay', delayMs, MILLISECONDS)
    if (typeof fire !== 'function') checkArgument('after()', 'what it fires', fire, callback())
    const timer = { dueAt: this.#now + Math.max(0, delayMs), setAt: this.#now, order: this.#order++, fire }
    if (recurrence === undefined) {
      this.#timers.insert(timer)
      return { cancel: () => this.#timers.remove(timer) }
    }
    const recurring = { ...timer, recurrence }
    this.#loops.add(recurring)
    return { cancel: () => this.#loops.remove(recurring) }
  }

  /** For somebody who waits: calls `fire` whenever nobody has moved time for two real seconds while no handler ran. */
  onStandstill(fire: () => void): Timer {
    return this.#standstills.add(fire)
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size + this.#loops.size
  }

  /** When the next timer fires, in epoch milliseconds; undefined if none will. The timers of idle engines fire only if something is due. */
  get nextAt(): number | undefined {
    return this.#next()?.dueAt
  }

  /** Moves time forward. Fires each timer that falls due at its own instant, and lets awaiting code run in between. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(this.#now + durationMs(duration, 'advance(): the duration'))
  }

  /** Moves time forward to an instant, like {@link advance}. An instant in the past only lets awaiting code run. */
  async advanceTo(instant: number | Date): Promise<void> {
    const target = checkArgument('advanceTo()', 'the instant', instant, INSTANT)
    await this.#standstills.whileMoving(async () => {
      await settleTurns()
      while (await this.#fireNext(target)) await settleTurns()
      this.#moveTo(target)
      await settleTurns()
    })
  }

  /**
   * Moves time from timer to timer until the promise settles, and settles with it. Rejects if `limit` of virtual time (default 30 days) has passed,
   * or if nothing is left that could settle it.
   */
  async runUntil<T>(promise: PromiseLike<T>, options: { readonly limit?: Duration } = {}): Promise<T> {
    checkArgument('runUntil()', 'the promise', promise, having<PromiseLike<T>>('a promise', ['then']))
    const { limit } = checkOptions('runUntil()', options, OPTIONS)
    const state = { settled: false }
    const settle = () => {
      state.settled = true
    }
    promise.then(settle, settle)
    await this.#standstills.whileMoving(() => this.#runUntil(state, limit))
    return promise
  }

  async #runUntil(state: { readonly settled: boolean }, limitMs: number): Promise<void> {
    const deadline = this.#now + limitMs
    await settleTurns()
    while (!state.settled) {
      if (!(await this.#fireNext(deadline, state)) && !state.settled) {
        const next = this.nextAt
        if (next === undefined) await this.#awaitOutside(state)
        else if (next > deadline) throw this.#overdue(`within ${limitMs} ms of virtual time`)
      }
      await settleTurns()
    }
  }

  /** @internal Moves time to the next timer and fires it, unless it is due after `limit`. Resolves to whether it did. */
  async step(limit: number): Promise<boolean> {
    let hasFired = false
    await this.#standstills.whileMoving(async () => {
      hasFired = await this.#fireNext(limit)
      await settleTurns()
    })
    return hasFired
  }

  #next(): PendingTimer | undefined {
    const [timer, loop] = [this.#timers.next, this.#loops.next()]
    if (timer === undefined || loop === undefined) return timer ?? loop
    return isBefore(timer, loop) ? timer : loop
  }

  /** Fires the next timer, unless it is due after `limit`, or `state` settles before. Resolves to whether it did. */
  async #fireNext(limit: number, state?: { readonly settled: boolean }): Promise<boolean> {
    let next = this.#next()
    if (Math.min(next?.dueAt ?? limit, limit) - this.#now > LEAP_MS && this.#loops.isBusy) {
      await letRealWorkEnd(() => !this.#loops.isBusy)
      next = this.#next()
    }
    if (state?.settled || next === undefined || next.dueAt > limit) return false
    // Those that catch up may change what comes next, though nothing comes before.
    if (this.#moveTo(next.dueAt)) return true
    const loop = this.#loops.find(next)
    if (loop === undefined) {
      this.#timers.remove(next)
      next.fire()
    } else this.#fireLoops(loop)
    return true
  }

  /** Loops that look at one instant look together: what one of them finds, another may find too, as in a fleet of processes. */
  #fireLoops(first: PendingTimer): void {
    for (let next: PendingTimer | undefined = first; next?.dueAt === this.#now; next = this.#next()) {
      const loop = this.#loops.find(next)
      if (loop === undefined) return
      this.#loops.remove(loop)
      loop.fire()
    }
  }

  /** Whether firings that were left out had to be made up for. */
  #moveTo(instant: number): boolean {
    if (instant <= this.#now) return false
    this.#now = instant
    const owed = this.#loops.skipTo(instant)
    for (const timer of owed) {
      this.#loops.remove(timer)
      timer.fire()
    }
    return owed.length > 0
  }

  async #awaitOutside(state: { readonly settled: boolean }): Promise<void> {
    const startedAt = realMs()
    while (!state.settled && this.nextAt === undefined) {
      const graceMs = this.#loops.isBusy ? BUSY_GRACE_MS : REAL_GRACE_MS
      if (realMs() - startedAt > graceMs) throw this.#overdue('and no timer is left that could settle it')
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
    const timers = [...this.#timers.list(), ...this.#loops.due()].sort((one, other) =>
      isBefore(one, other) ? -1 : 1,
    )
    if (timers.length === 0) return 'No timer is pending.'
    const listed = timers
      .slice(0, LISTED_TIMERS_MAX)
      .map((timer) => `${timer.fire.name || 'anonymous'} at +${timer.dueAt - this.#startedAt} ms`)
    const more = timers.length > listed.length ? `, and ${timers.length - listed.length} more` : ''
    return `Pending timers: ${listed.join(', ')}${more}.`
  }
}
