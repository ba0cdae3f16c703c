import type { Message } from '../child/protocol.ts'
import type { Seat } from './seat.ts'

/** What the processes have said. */
export class Heard {
  /** What the engine reported as unexpected, by its text. */
  readonly errors: Record<string, number> = {}
  readonly deaths: string[] = []
  readonly hangs: string[] = []
  readonly #failures = new Map<string, Readonly<Record<string, number>>>()

  hear(seat: Seat, message: Message): void {
    const name = seat.child?.name ?? seat.name
    if (message.type === 'error') {
      // Names of databases and ports differ between processes; only the sentence matters.
      const text = message.message.replaceAll(/db_[0-9a-f]+|:[0-9]+/g, '…')
      const what = `${message.during}: ${text}`.slice(0, 160)
      this.errors[what] = (this.errors[what] ?? 0) + 1
    }
    if (message.type === 'hangs')
      this.hangs.push(`A call of ${name} has no end after ${message.forMs} ms: ${message.call}.`)
    if (message.type === 'started') this.#failures.set(name, message.failures)
  }

  /** Failed calls, summed over all processes so far. */
  get failures(): Readonly<Record<string, number>> {
    const sum: Record<string, number> = {}
    for (const failures of this.#failures.values())
      for (const [what, count] of Object.entries(failures)) sum[what] = (sum[what] ?? 0) + count
    return sum
  }
}
