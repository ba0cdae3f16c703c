import type { Clock, Timer } from '@belay/workflow/adapter'
import type { InFlight } from './in-flight.ts'
import type { Random } from './random.ts'

/** Something for which a process waits: its turn, or an instant. */
interface Event {
  readonly process: Process
  readonly at: number
  readonly order: number
  readonly fire: () => void
  cancelled: boolean
}

/** One simulated operating-system process. Everything asynchronous in it goes through its turns and timers, so it can be stopped at any await. */
export class Process {
  readonly name: string
  dead = false
  /** Frozen until this instant: nothing in the process moves, while the world continues. */
  frozenUntil = 0
  readonly clock: Clock
  /** Resolves when it is killed. */
  readonly died: Promise<void>
  readonly #scheduler: Scheduler
  #die: () => void = () => {}

  constructor(name: string, scheduler: Scheduler) {
    this.name = name
    this.#scheduler = scheduler
    this.clock = {
      now: () => scheduler.now,
      // Whole milliseconds, which every store's clock can distinguish.
      after: (delayMs, fire) => scheduler.add(this, Math.ceil(scheduler.now + delayMs), fire),
    }
    this.died = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  /** Waits for the process's next turn: now, or after a delay in virtual milliseconds. Never resolves if the process dies first. */
  turn(delayMs = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#scheduler.add(this, this.#scheduler.now + delayMs, resolve)
    })
  }

  die(): void {
    this.dead = true
    this.#die()
  }
}

/**
 * Decides the order of everything. Chance picks one of the things that could happen next at an instant; time moves only when nothing is left to do.
 * Between two picks, every promise that can settle has settled, and every statement has ended. So a run depends on its seed alone.
 */
export class Scheduler {
  now = 1_000
  readonly #random: Random
  readonly #inFlight: InFlight
  #events: Event[] = []
  #order = 0

  constructor(random: Random, inFlight: InFlight) {
    this.#random = random
    this.#inFlight = inFlight
  }

  add(process: Process, at: number, fire: () => void): Timer {
    const event: Event = { process, at, order: this.#order++, fire, cancelled: false }
    this.#events.push(event)
    return {
      cancel() {
        event.cancelled = true
      },
    }
  }

  /** Lets one thing happen, with everything that it triggers at once. Returns false if nothing is left that ever could happen. */
  async step(): Promise<boolean> {
    await this.settle()
    this.#events = this.#events.filter((event) => !event.cancelled && !event.process.dead)
    // Statements that wait in the store for a transaction of a dead process continue, in their time.
    if (this.#events.length === 0) return this.#inFlight.waited()
    const soonest = Math.min(...this.#events.map(dueAt))
    this.now = Math.max(this.now, soonest)
    const due = this.#events.filter((event) => dueAt(event) <= this.now)
    const next = this.#random.pick(due)
    next.cancelled = true
    next.fire()
    await this.settle()
    return true
  }

  /** Waits until everything that the last step triggered has ended. */
  async settle(): Promise<void> {
    await macrotask()
    while (!this.#inFlight.isQuiet) {
      await this.#inFlight.quiet()
      await macrotask()
    }
  }

  kill(process: Process): void {
    process.die()
  }

  freeze(process: Process, forMs: number): void {
    process.frozenUntil = Math.max(process.frozenUntil, this.now + forMs)
  }
}

function dueAt(event: Event): number {
  return Math.max(event.at, event.process.frozenUntil)
}

/** Promise jobs all run before the next macrotask. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
