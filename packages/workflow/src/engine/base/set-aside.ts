import { isContended, isUnavailable, isUnreachable } from '../../adapter/store-errors.ts'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../logger.ts'
import { messageOf } from '../../thrown.ts'
import type { EventHub } from './events.ts'
import { sendApart } from './send-apart.ts'

const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 60_000
/** A refusal that was not seen again for so long is over. */
const FORGOTTEN_MS = 5 * PAUSE_MAX_MS
/** The most refusals that are remembered. */
const KNOWN_MAX = 1_000

/** What the store refuses: a call about one run or step, or about something else that has a name. With none of these, every such call. */
export interface Refused {
  /** What was to be done, as it ends a sentence: `settling`. */
  readonly during: string
  readonly runId?: string | undefined
  readonly step?: string | undefined
  /** Of what is no run: `limit "mail"`. */
  readonly name?: string | undefined
}

/** Something that the store refuses while it accepts others. */
export interface Aside extends Refused {
  readonly reason: string
  /** For how long, in milliseconds. */
  readonly forMs: number
}

interface Known {
  readonly aside: Omit<Aside, 'forMs'>
  readonly since: number
  readonly tries: number
  readonly triedAt: number
  readonly retryAt: number
}

/**
 * What this engine has set aside because the store refuses it, for whatever reason: a row that was damaged, a right that is missing, a disk that is
 * full. Each is tried again alone, after a pause that grows to a minute, and holds up no other. The log names it once, and `doctor()` as long as it
 * lasts.
 */
export class SetAside {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #events: EventHub
  readonly #known = new Map<string, Known>()

  constructor(parts: { readonly clock: Clock; readonly log: Logger; readonly events: EventHub }) {
    this.#clock = parts.clock
    this.#log = parts.log
    this.#events = parts.events
  }

  /** Asked on hot paths, before the name of what succeeded is made. */
  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** Whether the store refused this the last time. */
  has(subject: Refused): boolean {
    return !this.isEmpty && this.#known.has(keyOf(subject))
  }

  /** The store refused this, alone. Returns the pause before the next try, in milliseconds. */
  refused(subject: Refused, error: unknown): number {
    const { isNew, pauseMs } = this.note(subject, error)
    if (!isNew) return pauseMs
    this.#log.error(REFUSED, { ...subject, error })
    this.#events.emit('error', { during: subject.during, error })
    return pauseMs
  }

  /** The same, for who has told it already. */
  note(subject: Refused, error: unknown): { readonly isNew: boolean; readonly pauseMs: number } {
    const now = this.#clock.now()
    const key = keyOf(subject)
    const before = this.#known.get(key)
    const tries = (before?.tries ?? 0) + 1
    const pauseMs = Math.min(PAUSE_MIN_MS * 2 ** Math.min(tries - 1, 10), PAUSE_MAX_MS)
    const aside = { ...subject, reason: reasonOf(error) }
    this.#known.delete(key)
    if (this.#known.size >= KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, { aside, tries, since: before?.since ?? now, triedAt: now, retryAt: now + pauseMs })
    return { isNew: before === undefined, pauseMs }
  }

  /** Whether it was known. */
  forget(subject: Refused): boolean {
    return !this.isEmpty && this.#known.delete(keyOf(subject))
  }

  /** The store accepted this. */
  accepted(subject: Refused): void {
    if (!this.forget(subject)) return
    this.#log.info('What had failed again and again has succeeded.', { ...subject })
  }

  acceptedRuns(during: string, runs: readonly { readonly runId: string }[]): void {
    if (!this.isEmpty) for (const { runId } of runs) this.accepted({ during, runId })
  }

  /** What is refused now, the oldest first. */
  list(): readonly Aside[] {
    const now = this.#clock.now()
    for (const [key, { triedAt }] of this.#known) if (now - triedAt > FORGOTTEN_MS) this.#known.delete(key)
    return [...this.#known.values()]
      .map(({ aside, since }) => ({ ...aside, forMs: now - since }))
      .sort((one, other) => other.forMs - one.forMs)
  }

  /** Does something that finds its rows by itself. What the store refuses is left to the caller's next look. Rejects if the store cannot be reached. */
  async attempt(subject: Refused, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (isUnreachable(error) || isContended(error)) throw error
      this.refused(subject, error)
      return
    }
    this.accepted(subject)
  }

  /**
   * Does something for all of these in one call, and alone for those that the store refuses: again alone, once their pauses are over. What is locked
   * is left to the caller's next look. Rejects if the store cannot be reached, or refuses everything.
   */
  async each<Item>(
    items: readonly Item[],
    {
      subjectOf,
      work,
    }: { subjectOf: (item: Item) => Refused; work: (items: readonly Item[]) => Promise<void> },
  ): Promise<void> {
    const now = this.#clock.now()
    const known = (item: Item) => (this.isEmpty ? undefined : this.#known.get(keyOf(subjectOf(item))))
    const together = items.filter((item) => known(item) === undefined)
    const alone = items.filter((item) => (known(item)?.retryAt ?? Number.POSITIVE_INFINITY) <= now)
    const send = async (part: readonly Item[]) => {
      await work(part)
      if (!this.isEmpty) for (const item of part) this.accepted(subjectOf(item))
    }
    for (const batch of [together, ...alone.map((item) => [item])]) {
      if (batch.length === 0) continue
      await sendApart(batch, {
        send,
        refused: (item, error) => void this.refused(subjectOf(item), error),
        heldUp: () => {},
        unanswered: (_, error) => {
          throw error
        },
      })
    }
  }
}

const REFUSED =
  'This fails again and again, while it succeeds for others. It is tried again alone, with pauses of up to a minute, and nothing else waits for it. The error says why: give the right that is missing, make room, or repair the rows. If nothing was changed by hand, report it.'

function keyOf({ during, runId, step, name }: Refused): string {
  return JSON.stringify([during, runId, step, name])
}

/** The database's own words and SQLSTATE, without the advice for a database that cannot be reached. */
export function reasonOf(error: unknown): string {
  const cause = isUnavailable(error) ? (error.cause ?? error) : error
  const state = sqlStateOf(cause)
  return state === undefined ? messageOf(cause) : `${messageOf(cause)} (SQLSTATE ${state})`
}

function sqlStateOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}
