import { isBefore, type PendingTimer, type RecurringTimer } from './timer-queue.ts'

/**
 * Pending timers of loops. A firing that would find nothing is left out; the others keep the instants that they would have had. So time can move to
 * the next instant at which something is due, however far away.
 */
export class LoopTimers {
  readonly #timers = new Set<RecurringTimer>()

  get size(): number {
    return this.#timers.size
  }

  /** Whether handlers run that may wait for something real. */
  get isBusy(): boolean {
    for (const { recurrence } of this.#timers) if (recurrence.isBusy?.() === true) return true
    return false
  }

  /** The firings that may find something, as things are now. */
  due(): readonly PendingTimer[] {
    return [...this.#timers].flatMap((timer) => nextOf(timer) ?? [])
  }

  add(timer: RecurringTimer): void {
    this.#timers.add(timer)
  }

  remove(timer: RecurringTimer): void {
    this.#timers.delete(timer)
  }

  /** The next firing that may find something, as things are now; undefined if none ever will. */
  next(): PendingTimer | undefined {
    let first: PendingTimer | undefined
    for (const timer of this.#timers) {
      const firing = nextOf(timer)
      if (firing !== undefined && (first === undefined || isBefore(firing, first))) first = firing
    }
    return first
  }

  /** Leaves out all firings before `instant`. Returns the timers that must catch up. */
  skipTo(instant: number): readonly RecurringTimer[] {
    const owed: RecurringTimer[] = []
    for (const timer of this.#timers) {
      if (timer.dueAt >= instant) continue
      if (timer.recurrence.catchesUp) owed.push(timer)
      Object.assign(timer, dueFrom(timer, instant))
    }
    return owed
  }

  /** The timer behind a firing of {@link next}. */
  find({ order }: PendingTimer): RecurringTimer | undefined {
    for (const timer of this.#timers) if (timer.order === order) return timer
    return undefined
  }
}

function nextOf(timer: RecurringTimer): PendingTimer | undefined {
  const idleUntil = timer.recurrence.idleUntil()
  if (idleUntil === Number.POSITIVE_INFINITY) return undefined
  return idleUntil <= timer.dueAt ? timer : { ...timer, ...dueFrom(timer, idleUntil) }
}

/** The first firing at or after an instant. Timers break ties by when they were set, and a loop sets its timer when its last round ends. */
function dueFrom({ dueAt, recurrence }: RecurringTimer, instant: number): { dueAt: number; setAt: number } {
  const { everyMs } = recurrence
  const next = dueAt + Math.ceil((instant - dueAt) / everyMs) * everyMs
  return { dueAt: next, setAt: next - everyMs }
}
