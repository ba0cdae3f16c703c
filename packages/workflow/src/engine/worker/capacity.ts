import { ClaimWindow } from './claim-window.ts'

/** Room kept for the steps that one call to the store may lease to this worker. */
export interface Reservation {
  /** Steps that the call may lease at most. */
  readonly max: number
  /** The call was answered, or has failed, and its steps were taken on. Idempotent. */
  end(): void
}

/**
 * How many steps a session can take on, and which calls are under way that may bring it some. Whoever compares the store with the session
 * needs the latter: a step that the session does not know may be the answer of such a call.
 */
export class Capacity {
  readonly window = new ClaimWindow()
  readonly #free: () => number
  /** By the number of the call, in the order the calls began. */
  readonly #underWay = new Map<number, number>()
  #reserved = 0
  #calls = 0

  /** `free` tells how many steps could begin now if no call were under way. */
  constructor(free: () => number) {
    this.#free = free
  }

  /** How many more steps could be taken on. */
  get room(): number {
    return Math.max(0, this.#free() - this.#reserved)
  }

  /** Whether a call is under way that may lease steps to this worker. */
  get isLeasing(): boolean {
    return this.#underWay.size > 0
  }

  /** Keeps room for a call, at most as much as it wants. */
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

  /** A mark in the order of calls: later calls come behind it. */
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
