import type { Adapter, StoreNotice } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import type { EventHub } from './events.ts'
import type { Runtime } from './runtime.ts'

export interface StoreHistoryParts {
  readonly adapter: Adapter
  readonly runtime: Pick<Runtime, 'clock'>
  readonly log: Logger
}

/** The store may lack commits that it has confirmed. */
export interface SetBack {
  /** When this process noticed it, on the engine's clock. Epoch milliseconds. */
  readonly at: number
  /** The store is known to lack something. Otherwise its database was promoted or restored, which may have lost nothing. */
  readonly isSure: boolean
  readonly what: string
  readonly remedy: string
}

/** What one failover shows in several places within this time is told once. */
const SAME_MS = 60_000
/** How long `doctor()` reports it. */
const RECENT_MS = 3_600_000

const WHY = 'a standby was promoted before it had received the last commits, or a backup was restored'
const REMEDY =
  'This process has stored its definitions again, and the limits and schedules that were missing. Steps whose completion was lost run again, with the same idempotency keys. Runs whose start was lost are gone: start them again with their keys. Compare other systems with the runs of the last minutes before.'

/** Notices that the store went back in time, tells it once, and remembers it for `doctor()`. */
export class StoreHistory {
  readonly #parts: StoreHistoryParts
  readonly #events: EventHub
  readonly #onSetBack: () => void
  #timeline: string | null = null
  #isLooking = false
  #newest: SetBack | undefined
  /** The timeline of the newest was seen. */
  #hasTimeline = false

  constructor(parts: StoreHistoryParts, events: EventHub, onSetBack: () => void) {
    this.#parts = parts
    this.#events = events
    this.#onSetBack = onSetBack
    events.on('store.recovered', () => void this.look())
  }

  /** The newest of the last hour. */
  get recent(): SetBack | undefined {
    const newest = this.#newest
    return newest !== undefined && this.#now() - newest.at < RECENT_MS ? newest : undefined
  }

  /** Compares the history of the store's database with that of the look before. Never rejects: the next look finds what this one could not read. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const timeline = await this.#parts.adapter.timeline?.().catch(() => null)
    this.#isLooking = false
    const before = this.#timeline
    this.#timeline = timeline ?? before
    if (before === null || this.#timeline === before) return
    this.#found(false, `The database has another history than before: ${WHY}. Its last commits may be lost.`)
  }

  /** The store lacks what it had confirmed. */
  lost(what: string): void {
    this.#found(true, `The store has lost commits: ${what}. Most likely ${WHY}.`)
  }

  lostDefinition(): void {
    this.lost('a definition that this process had stored is not there any more')
  }

  #found(isSure: boolean, what: string): void {
    const at = this.#now()
    const last = this.#newest !== undefined && at - this.#newest.at < SAME_MS ? this.#newest : undefined
    // Each promotion has a timeline of its own, so a second timeline is a second promotion.
    const isSame = last !== undefined && (isSure || !this.#hasTimeline)
    this.#hasTimeline = !isSure || (isSame && this.#hasTimeline)
    if (!isSame || (isSure && !last.isSure))
      this.#newest = { at: isSame ? last.at : at, isSure, what, remedy: REMEDY }
    this.#onSetBack()
    if (isSame) return
    const notice: StoreNotice = { level: 'warn', code: 'store_went_back', message: `${what} ${REMEDY}` }
    this.#parts.log.warn(notice.message, { code: notice.code })
    this.#events.emit('store.notice', notice)
  }

  #now(): number {
    return this.#parts.runtime.clock.now()
  }
}
