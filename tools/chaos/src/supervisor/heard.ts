import type { Message } from '../child/protocol.ts'
import type { Seat } from './seat.ts'

/** What processes said in the course of it. */
export class Heard {
  /** What the engine told as unexpected, by its words. */
  readonly errors: Record<string, number> = {}
  readonly deaths: string[] = []
  readonly hangs: string[] = []
  readonly #failures = new Map<string, Readonly<Record<string, number>>>()

  hear(seat: Seat, message: Message): void {
    const name = seat.child?.name ?? seat.name
    if (message.type === 'error') {
      // Names of databases and ports differ between processes; the sentence counts.
      const text = message.message.replaceAll(/db_[0-9a-f]+|:[0-9]+/g, '…')
      const what = `${message.during}: ${text}`.slice(0, 160)
      this.errors[what] = (this.errors[what] ?? 0) + 1
    }
    if (message.type === 'hangs')
      this.hangs.push(`A call of ${name} has no end after ${message.forMs} ms: ${message.call}.`)
    if (message.type === 'started') this.#failures.set(name, message.failures)
  }

  /** Calls that failed, over all processes that there were. */
  get failures(): Readonly<Record<string, number>> {
    const sum: Record<string, number> = {}
    for (const failures of this.#failures.values())
      for (const [what, count] of Object.entries(failures)) sum[what] = (sum[what] ?? 0) + count
    return sum
  }
}
