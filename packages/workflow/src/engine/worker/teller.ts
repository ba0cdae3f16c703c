import { type Adapter, isHeartbeat, type NewValue } from '../../adapter/index.ts'
import type { Timer } from '../../clock.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptReports } from '../attempt/attempt-reports.ts'
import type { Telling } from '../attempt/telling.ts'
import { isUnavailable, type OutageWatch } from '../base/outage.ts'
import type { Runtime } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'
import type { Refused, SetAside } from '../base/set-aside.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** The shortest time between two calls, unless an attempt waits to be settled. */
const PAUSE_MS = 250
/** The most values in one call. */
const BATCH_MAX = 500
/** A value that the store has refused so often, alone, is given up: it can never be stored. */
const REFUSALS_MAX = 5

export interface TellerParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly aside: SetAside
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
  /** How often the store has refused what they tell, for a reason that stays. */
  readonly #refusals = new WeakMap<Telling, number>()
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
    let delayMs: number | undefined
    const later = (part: readonly Sent[], pauseMs: number) => {
      for (const { telling, value } of part) telling.unanswered(value)
      delayMs = Math.max(delayMs ?? 0, pauseMs)
    }
    await sendApart(batch, {
      send: async (part) => {
        // A locked step is asked for again after the pause.
        if (await this.#publish(part)) delayMs = Math.max(delayMs ?? 0, PAUSE_MS)
      },
      refused: (one, error) => {
        if (!this.#gaveUp(one, error)) later([one], PAUSE_MS)
      },
      heldUp: (one) => later([one], PAUSE_MS),
      unanswered: (part, error) => {
        this.#isBackingOff = true
        later(part, this.#parts.outage.failed(error))
      },
    })
    return delayMs
  }

  /** Resolves to whether one of the steps was locked. */
  async #publish(batch: readonly Sent[]): Promise<boolean> {
    const { adapter, workerId, valuesMax, outage, reports, onPublished } = this.#parts
    const values = batch.map(({ value }) => value)
    const results = await adapter.publish({ workerId, values, keysMax: valuesMax })
    outage.succeeded()
    batch.forEach(({ telling, value }, index) => {
      telling.answered(value, results[index])
      this.#parts.aside.accepted(subjectOf(value, telling))
      if (results[index] !== 'stored' || isHeartbeat(value.key)) return
      reports.published(telling.attempt, value.key)
      onPublished(value.runId)
    })
    return results.includes('busy')
  }

  /** The store refuses this value, but accepts others. Whether it is given up. */
  #gaveUp({ telling, value }: Sent, error: unknown): boolean {
    this.#parts.aside.refused(subjectOf(value, telling), error)
    const refusals = (this.#refusals.get(telling) ?? 0) + (isUnavailable(error) ? 0 : 1)
    this.#refusals.set(telling, refusals)
    if (refusals < REFUSALS_MAX) return false
    telling.gaveUp(value, error)
    return true
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

function subjectOf({ runId }: NewValue, { attempt }: Telling): Refused {
  return { during: 'publishing values', runId, step: attempt.step.name }
}
