import { BelayError } from '../../errors.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { OutageWatch } from '../base/outage.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { Capacity } from './capacity.ts'
import type { Lease } from './lease.ts'
import { Slots } from './slots.ts'
import type { Transactions } from './step-transactions.ts'

export interface PerformerParts {
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly concurrency: number
  readonly capacity: Capacity
  readonly lease: Lease
  readonly transactions: Transactions
  /** The attempt has ended, and its outcome must still be recorded. */
  readonly onEnd: (attempt: Attempt, end: AttemptEnd) => void
}

/** How often attempts that wait for a slot are looked at. */
const LOOK_MS = 200

/** Performs attempts: reads their payloads, waits for a slot, makes sure that the lease holds, and calls the handler. */
export class Performer {
  readonly #parts: PerformerParts
  readonly #capacity: Capacity
  readonly #slots: Slots<Attempt, AttemptEnd | undefined>
  /** Handlers that have ended since the last look. */
  #ended = 0
  #looking = false

  constructor(parts: PerformerParts) {
    this.#parts = parts
    this.#capacity = parts.capacity
    const { concurrency, capacity, lease, onEnd } = parts
    this.#slots = new Slots({
      concurrency,
      perform: (attempt) => (lease.holds ? this.#call(attempt) : this.#callOnceHeld(attempt)),
      onEnd: (attempt, end) => {
        if (end === undefined) return capacity.free()
        this.#ended += 1
        capacity.ended()
        onEnd(attempt, end)
      },
    })
  }

  perform(attempt: Attempt): void {
    this.#capacity.take()
    const reading = attempt.prepare()
    if (reading === undefined) this.#queue(attempt)
    else void this.#prepare(attempt, reading)
  }

  /** Its decision is recorded, and its payloads are there. */
  resume(attempt: Attempt): void {
    this.#capacity.take()
    this.#queue(attempt)
  }

  #queue(attempt: Attempt): void {
    this.#slots.add(attempt)
    if (this.#slots.free < 0) this.#lookLater()
  }

  #lookLater(): void {
    if (this.#looking) return
    this.#looking = true
    this.#ended = 0
    this.#parts.runtime.clock.after(LOOK_MS, () => {
      this.#looking = false
      this.#giveBackLate()
      if (this.#slots.free < 0) this.#lookLater()
    })
  }

  /** The handlers have become slow: gives back what would wait for longer than another look, newest first. Other workers may have free slots. */
  #giveBackLate(): void {
    for (const attempt of this.#slots.withdraw(this.#ended)) {
      this.#capacity.free()
      if (attempt.phase === 'queued') this.#parts.onEnd(attempt, { type: 'given_up' })
    }
  }

  async #prepare(attempt: Attempt, reading: Promise<void>): Promise<void> {
    if (await this.#read(attempt, reading)) {
      this.#queue(attempt)
      return
    }
    this.#capacity.free()
    // It may have been given up meanwhile.
    if (attempt.phase === 'queued') this.#parts.onEnd(attempt, { type: 'given_up' })
  }

  /** Reads until the store answers or the attempt is not needed any more. Resolves to whether its payloads are there. */
  async #read(attempt: Attempt, first: Promise<void>): Promise<boolean> {
    const { runtime, outage, capacity } = this.#parts
    for (let reading: Promise<void> | undefined = first; ; reading = attempt.prepare()) {
      try {
        await reading
        return true
      } catch (error) {
        if (BelayError.is(error) && error.code === 'unknown_run') return false
        await pause(runtime.clock, outage.failed(error))
        if (capacity.isClosed || attempt.phase !== 'queued') return false
      }
    }
  }

  /** This process may have stood still for longer than its lease: another worker may have its steps by now. */
  async #callOnceHeld(attempt: Attempt): Promise<AttemptEnd | undefined> {
    await this.#parts.lease.known()
    return this.#call(attempt)
  }

  #call(attempt: Attempt): AttemptEnd | undefined | Promise<AttemptEnd | undefined> {
    if (attempt.phase === 'settling') return undefined
    const { transaction } = attempt
    return transaction === null ? attempt.perform() : this.#parts.transactions.perform(attempt, transaction)
  }
}
