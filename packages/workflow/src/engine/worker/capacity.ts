import type { Clock } from '../../clock.ts'
import { isAnswered } from '../base/outage.ts'
import { ClaimWindow } from './claim-window.ts'
import { Prefetch } from './prefetch.ts'

/** The most outcomes that may wait for a call to the store before the session takes on no more work. */
const UNSENT_MAX = 2_000

export interface CapacityOptions {
  readonly clock: Clock
  /** How many handlers may run at once. */
  readonly concurrency: number
  /** Slots beyond these, for undos alone. */
  readonly undoSlots: number
  /** How many outcomes wait for a call to the store. */
  readonly unsent: () => number
  /** Something was freed. Called once for everything that is freed at one moment, and after it. */
  readonly onRoom: () => void
  /** The answer of a call was lost: the store may have leased steps to this worker that the session does not know. */
  readonly onDoubt: () => void
}

/** Slots kept free for the steps that one call to the store may lease to this worker. */
export interface Reservation {
  /** The most steps that the call may lease. */
  readonly max: number
  /** Ends the reservation: the call has failed, or was answered and its steps were taken on. Idempotent. */
  end(): void
}

/**
 * The one account of how many steps a session can take on: slots taken, slots reserved for calls under way, steps leased ahead, outcomes not yet
 * sent, and the claim window. It also knows which calls may still lease steps to this worker, and whether the answer of one was lost. Comparing with
 * the store needs that: a step that the session does not know may be in an answer on its way.
 */
export class Capacity {
  readonly window = new ClaimWindow()
  readonly #options: CapacityOptions
  readonly #prefetch: Prefetch
  /** The reservation of each call under way, by call number, in the order the calls began. */
  readonly #underWay = new Map<number, number>()
  #taken = 0
  #reserved = 0
  #calls = 0
  #closed = false
  #doubted = false
  #announced = false

  constructor(options: CapacityOptions) {
    this.#options = options
    this.#prefetch = new Prefetch(options.clock)
  }

  /** How many more steps the session can take on. */
  get room(): number {
    if (this.#closed || this.#options.unsent() > UNSENT_MAX) return 0
    return Math.max(0, this.#options.concurrency + this.#ahead - this.#taken - this.#reserved)
  }

  /**
   * How many more undos the session can take on. When all slots are taken it still takes as many as it has slots: they begin before everything that
   * waits, so a rollback does not wait until another worker has room.
   */
  get undoRoom(): number {
    if (this.#closed || this.#options.unsent() > UNSENT_MAX) return 0
    const { concurrency } = this.#options
    return Math.max(0, 2 * concurrency + this.#ahead - this.#taken - this.#reserved)
  }

  /** How many undos could begin at once: none while steps wait for slots, since then slots become free. */
  get undosToClaim(): number {
    if (this.#closed || this.#options.unsent() > UNSENT_MAX) return 0
    const { concurrency, undoSlots } = this.#options
    return Math.max(0, concurrency + undoSlots - this.#taken - this.#reserved)
  }

  /** How many steps may be leased beyond the slots. None by a worker with one slot: it begins the oldest step of all that wait, each time. */
  get #ahead(): number {
    return this.#options.concurrency === 1 ? 0 : this.#prefetch.size
  }

  /** Slots taken, by running handlers and by those about to run. Attempts that wait for a slot don't count. */
  get busy(): number {
    return Math.min(this.#options.concurrency, this.#taken)
  }

  /** Attempts that have a slot, or wait for one. */
  get taken(): number {
    return this.#taken
  }

  /** The session takes on no more work: a claim that still arrives is given up. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Whether a call is under way that may lease steps to this worker. */
  get isLeasing(): boolean {
    return this.#underWay.size > 0
  }

  /** Whether an answer was lost since the last comparison that found no difference. */
  get isDoubted(): boolean {
    return this.#doubted
  }

  close(): void {
    this.#closed = true
  }

  /** An attempt needs a slot, now or as soon as one is free. */
  take(): void {
    this.#taken += 1
  }

  /** A handler has ended, and its slot is free. */
  ended(): void {
    this.#prefetch.ended()
    this.free()
  }

  /** An attempt needs its slot no more. */
  free(): void {
    this.#taken -= 1
    this.#announce()
  }

  /** Outcomes were recorded, or never will be: others can be sent. */
  recorded(): void {
    this.#announce()
  }

  /** Reserves slots for a call, at most `wanted`, and at most `room`. */
  reserve(wanted: number, room = this.room): Reservation {
    const max = Math.min(room, wanted)
    if (max <= 0) return NOTHING
    const call = this.#calls
    this.#calls += 1
    this.#reserved += max
    this.#underWay.set(call, max)
    return {
      max,
      end: () => {
        if (this.#underWay.delete(call)) this.#reserved -= max
      },
    }
  }

  /** Makes a call that may lease as many steps as it is told, at most `wanted`. Slots stay reserved until `call` has taken the steps on. */
  async leasing<Answer>(
    wanted: number,
    call: (max: number) => Promise<Answer>,
    most = this.room,
  ): Promise<Answer> {
    const room = this.reserve(wanted, most)
    try {
      return await call(room.max)
    } catch (error) {
      if (room.max > 0 && !isAnswered(error)) this.doubt()
      throw error
    } finally {
      room.end()
    }
  }

  /** The answer of a call that may have leased steps was lost. */
  doubt(): void {
    this.#doubted = true
    this.#options.onDoubt()
  }

  /** Begins a comparison: clears the doubt and returns whether there was one. */
  takeDoubt(): boolean {
    const doubted = this.#doubted
    this.#doubted = false
    return doubted
  }

  /** The comparison failed, or found a difference that another must confirm. */
  keepDoubt(doubted: boolean): void {
    this.#doubted ||= doubted
  }

  /** A mark in the order of calls: every later call comes after it. */
  mark(): number {
    return this.#calls
  }

  /** Whether every call that began before the mark has ended. */
  haveEndedBefore(mark: number): boolean {
    const [oldest] = this.#underWay.keys()
    return oldest === undefined || oldest >= mark
  }

  /** One microtask later: otherwise the first of many freed slots would be filled alone. */
  #announce(): void {
    if (this.#announced) return
    this.#announced = true
    queueMicrotask(() => {
      this.#announced = false
      this.#options.onRoom()
    })
  }
}

const NOTHING: Reservation = { max: 0, end() {} }
