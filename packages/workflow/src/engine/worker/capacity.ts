import { ClaimWindow } from './claim-window.ts'

/** Slots kept free for the steps that one call to the store may lease to this worker. */
export interface Reservation {
  /** The most steps that the call may lease. */
  readonly max: number
  /** Ends the reservation: the call has failed, or was answered and its steps were taken on. Idempotent. */
  end(): void
}

/**
 * Counts how many steps a session can take on, and tracks the calls under way that may lease it some. Comparing with the store needs the latter: a
 * step that the session does not know may be in the answer to such a call.
 */
export class Capacity {
  readonly window = new ClaimWindow()
  readonly #free: () => number
  /** The reservation of each call under way, by call number, in the order the calls began. */
  readonly #underWay = new Map<number, number>()
  #reserved = 0
  #calls = 0

  /** `free` returns the number of free slots, without regard to calls under way. */
  constructor(free: () => number) {
    this.#free = free
  }

  /** How many more steps the session can take on. */
  get room(): number {
    return Math.max(0, this.#free() - this.#reserved)
  }

  /** Whether a call is under way that may lease steps to this worker. */
  get isLeasing(): boolean {
    return this.#underWay.size > 0
  }

  /** Reserves slots for a call, at most `wanted`. */
  reserve(wanted: number): Reservation {
    const max = Math.min(this.room, wanted)
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

  /** A mark in the order of calls: every later call comes after it. */
  mark(): number {
    return this.#calls
  }

  /** Whether every call that began before the mark has ended. */
  haveEndedBefore(mark: number): boolean {
    const [oldest] = this.#underWay.keys()
    return oldest === undefined || oldest >= mark
  }
}

const NOTHING: Reservation = { max: 0, end() {} }
