import type { Clock, Timer } from '@belay/workflow/adapter'

/** Facts that do not hold once the store's clock was set back. */
const OF_TIME: ReadonlySet<string> = new Set([
  'run_finished_after_created',
  'run_ends_no_earlier_than_its_steps',
  'started_no_earlier_than_its_dependencies_ended',
  'finished_after_started',
  'undo_finished_after_started',
  'undo_started_no_earlier_than_its_dependents_were_undone',
])

/** The clock of a world's store. An operator may set it back; the world's time, and that of its processes, goes on. */
export class StoreClock implements Clock {
  /** The latest instant that it has ever shown. */
  latest = 0
  /** By how many milliseconds it was set back in all. */
  backMs = 0
  readonly #world: Clock
  readonly #aheadMs: number

  /** `aheadMs`: how far it is ahead of the world's time, so that it shows no time before 1970 once it was set back. */
  constructor(world: Clock, aheadMs: number) {
    this.#world = world
    this.#aheadMs = aheadMs
  }

  now(): number {
    const now = this.#world.now() + this.#aheadMs - this.backMs
    this.latest = Math.max(this.latest, now)
    return now
  }

  after(delayMs: number, fire: () => void): Timer {
    return this.#world.after(delayMs, fire)
  }

  /** Whether this invariant need not hold, because the clock was set back. */
  breaks(invariant: string): boolean {
    return this.backMs > 0 && OF_TIME.has(invariant)
  }

  setBack(byMs: number): void {
    this.now()
    this.backMs += byMs
  }
}
