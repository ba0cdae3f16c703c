import { BelayError } from '../../errors.ts'
import type { Attempt } from '../attempt/attempt.ts'
import { isUnreachable, type OutageWatch } from '../base/outage.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import { Slots } from '../base/slots.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { Capacity } from './capacity.ts'
import type { Lease } from './lease.ts'
import type { Transactions } from './step-transactions.ts'

export interface PerformerParts {
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly aside: SetAside
  readonly concurrency: number
  readonly undoSlots: number
  readonly capacity: Capacity
  readonly lease: Lease
  readonly transactions: Transactions
  /** The attempt has ended, and its outcome must still be recorded. */
  readonly onEnd: (attempt: Attempt, end: AttemptEnd) => void
}

function isUndo({ claim }: Attempt): boolean {
  return claim.direction === 'undo'
}

/** How often attempts that wait for a slot are looked at. */
const LOOK_MS = 200
/** The most attempts that leave their place to others: if the store refuses all payloads, a worker leases no more than these. */
const RESTING_MAX = 100

/** Performs attempts: reads their payloads, waits for a slot, makes sure that the lease holds, and calls the handler. */
export class Performer {
  readonly #parts: PerformerParts
  readonly #capacity: Capacity
  readonly #slots: Slots<Attempt, AttemptEnd | undefined>
  /** Attempts that have read their payloads, or are reading them. As many again as there are slots: payloads read ahead may be large. */
  readonly #readers = new Set<Attempt>()
  readonly #readersMax: number
  /** Attempts that wait until another one may read, in order. They may find that they need not read. */
  #unread: Attempt[] = []
  /** Handlers that have ended since the last look. */
  #ended = 0
  #looking = false
  /** Attempts that rest, and take no room. */
  #resting = 0

  constructor(parts: PerformerParts) {
    this.#parts = parts
    this.#capacity = parts.capacity
    const { concurrency, undoSlots, capacity, lease, onEnd } = parts
    this.#readersMax = 2 * concurrency
    this.#slots = new Slots({
      concurrency,
      reserved: undoSlots,
      perform: (attempt) => (lease.holds ? this.#call(attempt) : this.#callOnceHeld(attempt)),
      onEnd: (attempt, end) => {
        if (this.#readers.size > 0) this.#hasRead(attempt)
        if (end === undefined) return capacity.free()
        this.#ended += 1
        capacity.ended()
        onEnd(attempt, end)
      },
    })
  }

  /** Attempts that have a slot. */
  get performing(): number {
    return this.#slots.busy
  }

  perform(attempt: Attempt): void {
    this.#capacity.take()
    if (this.#mayRead(attempt)) return this.#begin(attempt)
    this.#unread.push(attempt)
    this.#lookLater()
  }

  /** As many undos as there are slots do not wait behind steps that go forward: those are leased ahead, and their payloads may be read ahead too. */
  #mayRead(attempt: Attempt): boolean {
    const extra = isUndo(attempt) ? this.#parts.concurrency : 0
    return this.#readers.size < this.#readersMax + extra
  }

  #begin(attempt: Attempt): void {
    const reading = attempt.prepare()
    if (reading === undefined) return this.#queue(attempt)
    this.#readers.add(attempt)
    void this.#prepare(attempt, reading)
  }

  /** An attempt that may have read needs its payloads no more: others may read. */
  #hasRead(attempt: Attempt): void {
    if (!this.#readers.delete(attempt)) return
    while (this.#readers.size < this.#readersMax) {
      const next = this.#unread.shift()
      if (next === undefined) return
      if (next.phase === 'queued') this.#begin(next)
      else this.#capacity.free()
    }
  }

  /** Its decision is recorded, and its payloads are there. */
  resume(attempt: Attempt): void {
    this.#capacity.take()
    this.#queue(attempt)
  }

  #queue(attempt: Attempt): void {
    if (isUndo(attempt)) this.#slots.addFirst(attempt)
    else this.#slots.add(attempt)
    if (this.#slots.free < 0) this.#lookLater()
  }

  #lookLater(): void {
    if (this.#looking) return
    this.#looking = true
    this.#ended = 0
    this.#parts.runtime.clock.after(LOOK_MS, () => {
      this.#looking = false
      this.#giveBackLate()
      if (this.#slots.free < 0 || this.#unread.length > 0) this.#lookLater()
    })
  }

  /** The handlers have become slow: gives back what would wait for longer than another look, newest first. Other workers may have free slots. */
  #giveBackLate(): void {
    const unreadKept = Math.max(0, this.#ended - this.#slots.waiting)
    for (const attempt of [...this.#unread.splice(unreadKept), ...this.#slots.withdraw(this.#ended)]) {
      this.#capacity.free()
      this.#readers.delete(attempt)
      if (attempt.phase === 'queued') this.#parts.onEnd(attempt, { type: 'given_up' })
    }
  }

  async #prepare(attempt: Attempt, reading: Promise<void>): Promise<void> {
    if (await this.#read(attempt, reading)) {
      this.#queue(attempt)
      return
    }
    this.#capacity.free()
    this.#hasRead(attempt)
    // It may have been given up meanwhile.
    if (attempt.phase === 'queued') this.#parts.onEnd(attempt, { type: 'given_up' })
  }

  /** Reads until the store answers or the attempt is not needed any more. Resolves to whether its payloads are there. */
  async #read(attempt: Attempt, first: Promise<void>): Promise<boolean> {
    const { runtime, outage, aside, capacity } = this.#parts
    for (let reading: Promise<void> | undefined = first; ; reading = attempt.prepare()) {
      try {
        await reading
        return true
      } catch (error) {
        if (BelayError.is(error) && error.code === 'unknown_run') return false
        const subject = { during: 'reading payloads', runId: attempt.claim.runId, step: attempt.step.name }
        if (isUnreachable(error)) await pause(runtime.clock, outage.failed(error))
        else await this.#rest(attempt, aside.refused(subject, error))
        if (capacity.isClosed || attempt.phase !== 'queued') return false
      }
    }
  }

  /** Others may take the place of an attempt whose payloads the store refuses to read, while it waits for another try. */
  async #rest(attempt: Attempt, forMs: number): Promise<void> {
    const { runtime, capacity } = this.#parts
    const makesRoom = this.#resting < RESTING_MAX
    if (makesRoom) {
      this.#resting += 1
      capacity.free()
      this.#hasRead(attempt)
    }
    await pause(runtime.clock, forMs)
    if (!makesRoom) return
    this.#resting -= 1
    capacity.take()
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
