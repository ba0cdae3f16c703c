import type { Clock } from '../../clock.ts'
import type { Context } from './context.ts'

/** How long work for one subject may hold up the others that are begun with it, in milliseconds. */
const PATIENCE_MS = 100
/** The most subjects whose work goes on alone. Further ones wait until one of these has ended. */
const ALONE_MAX = 1_000
/** While so many go on alone, nothing is begun for those that were slow the last time: the other places are kept for the others. */
const SLOW_MAX = 500

/** What is done for each subject. */
export interface ApartWork<Subject, Result> {
  readonly keyOf: (subject: Subject) => string
  /** May call functions of the user. Never throws because of the subject. */
  readonly work: (subject: Subject) => Promise<Result>
  /** Gets what came too late for the others of its batch. */
  readonly late: (result: Result) => Promise<void>
  /** That failed. */
  readonly onError: (subject: Subject, error: unknown) => void
}

/**
 * Work that calls functions of the user, out of a loop that serves many subjects. Subjects that are quick come back together; one that is slow goes on
 * alone, and until it ends nothing else is begun for it. The next time it comes after the others, and leaves them places.
 */
export class Apart {
  readonly #clock: Clock
  readonly #context: Context
  readonly #alone = new Set<string>()
  readonly #restsUntil = new Map<string, number>()
  /** Those that were slow the last time. */
  readonly #slow = new Set<string>()

  constructor({ clock, context }: { readonly clock: Clock; readonly context: Context }) {
    this.#clock = clock
    this.#context = context
  }

  /** How many subjects are to be left out of a look. */
  get skipped(): number {
    for (const key of this.#restsUntil.keys()) this.skips(key)
    const held = this.#alone.size < SLOW_MAX ? [] : this.#slow
    return new Set([...this.#alone, ...this.#restsUntil.keys(), ...held]).size
  }

  /** Whether nothing is to be begun for this subject now. */
  skips(key: string): boolean {
    const until = this.#restsUntil.get(key)
    if (until !== undefined && until <= this.#clock.now()) this.#restsUntil.delete(key)
    const isHeld = this.#alone.size >= SLOW_MAX && this.#slow.has(key)
    return isHeld || this.#alone.has(key) || this.#restsUntil.has(key)
  }

  /** Leaves a subject alone for a while, after a failure that another try would meet too. */
  rest(key: string, forMs: number): void {
    this.#restsUntil.set(key, this.#clock.now() + forMs)
  }

  /** Resolves to the results of the subjects that were quick. Rejects with the first error among them. */
  async each<Subject, Result>(
    subjects: readonly Subject[],
    { keyOf, work, late, onError }: ApartWork<Subject, Result>,
  ): Promise<readonly Result[]> {
    const isSlow = (subject: Subject) => this.#slow.has(keyOf(subject))
    const quick: Result[] = []
    let isOver = false
    const ordered = [...subjects.filter((subject) => !isSlow(subject)), ...subjects.filter(isSlow)]
    const workings = ordered.map((subject) => {
      const key = keyOf(subject)
      if (this.skips(key) || this.#alone.size >= ALONE_MAX) return null
      this.#alone.add(key)
      return this.#context
        .run(() => work(subject))
        .then(async (result) => {
          if (!isOver) {
            this.#slow.delete(key)
            quick.push(result)
            return
          }
          this.#slow.add(key)
          await late(result)
        })
        .catch((error: unknown) => {
          if (!isOver) throw error
          onError(subject, error)
        })
        .finally(() => this.#alone.delete(key))
    })
    try {
      await this.#patiently(Promise.all(workings))
    } finally {
      isOver = true
    }
    return quick
  }

  /** Waits until all of it has ended, but not for long. */
  async #patiently(all: Promise<unknown>): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(PATIENCE_MS, resolve)
      all.then(() => resolve(), reject).finally(() => timer.cancel())
    })
  }
}
