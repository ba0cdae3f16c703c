import { type Adapter, isHeartbeat, type NewValue } from '../../adapter/index.ts'
import type { Timer } from '../../clock.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptReports } from '../attempt/attempt-reports.ts'
import type { Telling } from '../attempt/telling.ts'
import { isContended, isUnavailable, type OutageWatch } from '../base/outage.ts'
import type { Runtime } from '../base/runtime.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** The shortest time between two calls, unless an attempt waits to be settled. */
const PAUSE_MS = 250
/** The most values in one call. */
const BATCH_MAX = 500
/** After this many calls in a row that the store refuses as a whole, their values are given up. */
const REFUSALS_MAX = 5

export interface TellerParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly workerId: string
  readonly valuesMax: number
  readonly reports: AttemptReports
  /** The store has a new value of this run. */
  readonly onPublished: (runId: string) => void
}

interface Sent {
  readonly telling: Telling
  readonly value: NewValue
}

/**
 * Sends what the attempts of a session tell: one call for all of them, one at a time, with a pause in between. An attempt that waits to be settled
 * ends the pause. A call whose answer was lost is sent again; storing a value twice is harmless.
 */
export class Teller {
  readonly #parts: TellerParts
  readonly #unsent = new Set<Telling>()
  /** Attempts that wait to be settled. */
  readonly #flushes = new Map<Telling, () => void>()
  #timer: Timer | undefined
  #isDue = false
  #isSending = false
  #isBackingOff = false
  #isAbandoned = false
  #refusals = 0
  #restsUntil = Number.NEGATIVE_INFINITY

  constructor(parts: TellerParts) {
    this.#parts = parts
  }

  /** This attempt has something to tell. */
  note(telling: Telling): void {
    if (this.#isAbandoned) return
    this.#unsent.add(telling)
    if (this.#timer === undefined) this.#sendAfter(this.#restsUntil - this.#parts.runtime.clock.now())
  }

  /**
   * Resolves once everything that an ended attempt told is stored, or can never be. What it told in a transaction was stored or rolled back with
   * that. Unless the attempt is followed by another one, its heartbeats are not needed any more.
   */
  flush({ telling, transaction }: Attempt, { type }: AttemptEnd): Promise<void> {
    telling?.end(type !== 'threw' && type !== 'given_up')
    if (telling === undefined || telling.isSent || transaction !== null || this.#isAbandoned) {
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#flushes.set(telling, resolve)
      if (!this.#isBackingOff) this.#sendAfter(0)
    })
  }

  /** Sends nothing any more: what is not stored by now never will be. */
  abandon(): void {
    this.#isAbandoned = true
    this.#timer?.cancel()
    this.#unsent.clear()
    for (const [telling, resolve] of this.#flushes) {
      telling.lose()
      resolve()
    }
    this.#flushes.clear()
  }

  /** At once means one microtask later, so that what is told at one moment shares a call. */
  #sendAfter(delayMs: number): void {
    if (this.#isSending || this.#isDue) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (delayMs > 0) {
      this.#timer = this.#parts.runtime.clock.after(delayMs, () => this.#send())
      return
    }
    this.#isDue = true
    queueMicrotask(() => this.#send())
  }

  #send(): void {
    this.#timer = undefined
    this.#isDue = false
    this.#isBackingOff = false
    if (this.#isAbandoned || this.#isSending || this.#unsent.size === 0) return
    this.#isSending = true
    const batch = this.#batch()
    void this.#call(batch).then((delayMs) => {
      this.#isSending = false
      this.#restsUntil = this.#parts.runtime.clock.now() + PAUSE_MS
      this.#sent(batch, delayMs)
    })
  }

  /** Resolves to how long the next call must wait; undefined if it may come at once. */
  async #call(batch: readonly Sent[]): Promise<number | undefined> {
    const { adapter, workerId, valuesMax, outage, reports, onPublished } = this.#parts
    try {
      const values = batch.map(({ value }) => value)
      const results = await adapter.publish({ workerId, values, keysMax: valuesMax })
      outage.succeeded()
      this.#refusals = 0
      batch.forEach(({ telling, value }, index) => {
        telling.answered(value, results[index])
        if (results[index] !== 'stored' || isHeartbeat(value.key)) return
        reports.published(telling.attempt, value.key)
        onPublished(value.runId)
      })
      // A locked step is asked for again after the pause.
      return results.includes('busy') ? PAUSE_MS : undefined
    } catch (error) {
      this.#isBackingOff = true
      this.#refusals = isUnavailable(error) || isContended(error) ? 0 : this.#refusals + 1
      for (const { telling, value } of batch) {
        if (this.#refusals < REFUSALS_MAX) telling.unanswered(value)
        else telling.gaveUp(value, error)
      }
      return outage.failed(error)
    }
  }

  #sent(batch: readonly Sent[], delayMs: number | undefined): void {
    for (const [telling, resolve] of this.#flushes) {
      if (!telling.isSent) continue
      this.#flushes.delete(telling)
      resolve()
    }
    if (this.#isAbandoned) return
    for (const { telling } of batch) if (!telling.isSent) this.#unsent.add(telling)
    if (this.#unsent.size > 0) this.#sendAfter(delayMs ?? (this.#flushes.size > 0 ? 0 : PAUSE_MS))
  }

  #batch(): readonly Sent[] {
    const batch: Sent[] = []
    for (const telling of this.#unsent) {
      for (const value of telling.take(BATCH_MAX - batch.length)) batch.push({ telling, value })
      if (batch.length === BATCH_MAX) break
      this.#unsent.delete(telling)
    }
    return batch
  }
}
