import pLimit from 'p-limit'
import type { Clock } from '../clock.ts'
import { Slots } from '../engine/base/slots.ts'
import type { Dispatch } from '../machine/changes.ts'
import type { MachineEvent } from '../machine/index.ts'
import type { Unit } from '../machine/state.ts'
import type { Asker } from './asker.ts'
import { Flight, type Owned } from './owned.ts'
import type { Answered, Interruption } from './under-way.ts'

/** A run whose handlers found no slot for so long goes to somebody else. */
const PATIENCE_MS = 500

export interface HandlersParts {
  readonly asker: Asker
  readonly clock: Clock
  readonly slots: number
  readonly undoSlots: number
  /** The store’s clock less `clock`. */
  readonly offset: () => number
  /** Whether the lease is sure to last. */
  readonly mayBegin: () => boolean
  /** Something has happened to a run. */
  readonly tell: (owned: Owned, event: MachineEvent) => void
  /** It has its answer. */
  readonly answer: (flight: Flight) => void
  /** A slot is free. */
  readonly onFree: () => void
}

/** Asks that have left: who waits for a slot, and whose handler was called. */
export class Handlers {
  readonly #parts: HandlersParts
  readonly #slots: Slots<Flight, void>
  /** Units of which one more kill makes poison begin one at a time, so that one which kills its worker takes no other with it. */
  readonly #alone = pLimit(1)
  /** They had a slot when the lease was over. */
  #late: Flight[] = []
  /** Handlers that were called, ever. */
  begun = 0

  constructor(parts: HandlersParts) {
    this.#parts = parts
    this.#slots = new Slots<Flight, void>({
      concurrency: parts.slots,
      reserved: parts.undoSlots,
      perform: (flight) => this.#perform(flight),
      onEnd: parts.onFree,
    })
  }

  /** How many more asks would find a slot. Negative: so many wait. */
  get free(): number {
    return this.#slots.free
  }

  get busy(): number {
    return this.#slots.busy
  }

  dispatch(owned: Owned, ask: Dispatch): void {
    const known = owned.flights.get(ask.unit)
    if (known?.calledAt === null) owned.withdraw(known)
    else known?.underWay?.interrupt('lost')
    const flight = new Flight(owned, ask, this.#parts.clock.now())
    owned.flights.set(ask.unit, flight)
    if (ask.phase === 'undo') this.#slots.addFirst(flight)
    else this.#slots.add(flight)
  }

  /** The lease was prolonged: what had waited for that begins. */
  goOn(): void {
    const late = this.#late
    this.#late = []
    for (const flight of late) if (isWanted(flight)) this.#slots.addFirst(flight)
  }

  /** The machine wants a handler to end. One that has not begun has done nothing. */
  abort(owned: Owned, unit: number): void {
    const flight = owned.flights.get(unit)
    if (flight === undefined) return
    if (flight.calledAt !== null) return flight.underWay?.interrupt('aborted')
    owned.withdraw(flight)
    this.#parts.tell(owned, { type: 'released', unit, serial: flight.serial, called: false })
  }

  /** Memory was made from rows again, and the commit that told handlers to end may have gone unanswered. */
  follow(owned: Owned): void {
    for (const flight of owned.flights.values()) {
      const { unit, serial, calledAt, underWay } = flight
      const u = owned.run.units[unit]
      const goesOn = u?.flying === true && u.serial === serial && u.status !== 'stopping'
      // Its beginning, which the row implies, is to be applied again.
      const isImplied = u?.status === 'pending' && u.serial + 1 === serial
      if (goesOn) continue
      if (calledAt === null) owned.withdraw(flight)
      else if (!isImplied) underWay?.interrupt('aborted')
    }
  }

  /** None of a run begins here any more. */
  withdraw(owned: Owned): void {
    for (const flight of owned.flights.values()) if (flight.calledAt === null) owned.withdraw(flight)
  }

  /** Somebody else is to call those that are still under way. What they come to counts no more. */
  release(owned: Owned): void {
    for (const flight of [...owned.flights.values()]) {
      const { unit, serial, calledAt, underWay } = flight
      underWay?.interrupt('lost')
      owned.withdraw(flight)
      this.#parts.tell(owned, { type: 'released', unit, serial, called: calledAt !== null })
    }
  }

  /** Those of a run that are under way are told to end; of all others it is forgotten that they had left. */
  interrupt(owned: Owned, reason: Interruption): void {
    for (const flight of owned.flights.values()) {
      if (flight.calledAt !== null) flight.underWay?.interrupt(reason)
      else owned.withdraw(flight)
    }
  }

  /** Whether all of its asks have waited for a slot too long. */
  isStuck({ flights }: Owned): boolean {
    if (this.free >= 0) return false
    const since = this.#parts.clock.now() - PATIENCE_MS
    for (const { calledAt, queuedAt } of flights.values())
      if (calledAt !== null || queuedAt > since) return false
    return flights.size > 0
  }

  #perform(flight: Flight): void | Promise<void> {
    if (!isWanted(flight)) return
    const { owned, unit } = flight
    if (this.#isLate(flight)) return
    const u = owned.run.units[unit]!
    const isRecorded = u.recorded && u.written === u.serial
    if (!flight.suspect || isRecorded) return this.#call(flight, u)
    const isRisky = u.tries.kills + 1 >= this.#parts.asker.killsMax(u, owned.code)
    return isRisky ? this.#alone(() => this.#callSuspect(flight)) : this.#callSuspect(flight)
  }

  /** The lease may be over: it waits until that is prolonged. */
  #isLate(flight: Flight): boolean {
    const isLate = !this.#parts.mayBegin()
    if (isLate) this.#late.push(flight)
    return isLate
  }

  /** Its row says that it begins before its handler is called. */
  async #callSuspect(flight: Flight): Promise<void> {
    if (!isWanted(flight)) return
    const { owned, unit, serial } = flight
    const recorded = new Promise<void>((resolve) => {
      flight.onRecorded = resolve
    })
    owned.unrecorded += 1
    this.#parts.tell(owned, { type: 'record', unit, serial, before: true })
    await recorded
    // The process may have been frozen meanwhile.
    if (isWanted(flight) && !this.#isLate(flight)) await this.#call(flight, owned.run.units[unit]!)
  }

  #call(flight: Flight, unit: Unit): void | Promise<void> {
    const { owned, serial, phase } = flight
    const { asker, clock, offset } = this.#parts
    this.begun += 1
    flight.calledAt = clock.now()
    flight.startedAt = flight.calledAt + offset()
    const answer = asker.ask({ owned, unit, serial, phase })
    if ('type' in answer) return this.#ended(flight, answer, flight.startedAt)
    flight.underWay = answer
    return answer.answered.then((answered) => this.#ended(flight, answered, clock.now() + offset()))
  }

  #ended(flight: Flight, answered: Answered, now: number): void {
    const { owned, unit, startedAt } = flight
    if (owned.flights.get(unit) === flight) owned.flights.delete(unit)
    flight.answer = answered.type === 'failed' ? { ...answered, startedAt } : answered
    flight.finishedAt = now
    this.#parts.answer(flight)
  }
}

const isWanted = (flight: Flight): boolean =>
  !flight.owned.isGone && flight.owned.flights.get(flight.unit) === flight

/** What waits for its row begins, once that is committed; or it is not to begin any more. */
export function tellRecorded(owned: Owned): void {
  if (owned.unrecorded === 0) return
  for (const flight of owned.flights.values()) {
    const { unit, serial } = flight
    const u = owned.run.units[unit]
    if (u?.serial !== serial || (u.recorded && u.written === serial)) owned.recorded(flight)
  }
}
