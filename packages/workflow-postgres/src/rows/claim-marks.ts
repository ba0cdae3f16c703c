import { UNDO_LEAD_MINUTES } from '@belay/workflow/adapter'
import { LookRation } from './look-ration.ts'

/** No place, and no instant: before all others. */
const NONE = Number.NEGATIVE_INFINITY
/** How far behind its mark a look begins, in seconds: a step may become due before another one and be committed after it. */
const OVERLAP_SECONDS = 0.05
/** Rarer looks begin further behind, each kind as often as its cost allows; the last one is at the whole queue. */
const LOOKBACK_SECONDS = [1, 10, 100, Number.POSITIVE_INFINITY]
const WHOLE = LOOKBACK_SECONDS.length - 1
/** One of so many looks is also where undos are placed, and steps with priorities that were found before. */
const WIDE_EVERY = 5
/** How long a step may take to be queued, in seconds, so that a wide look finds it. */
const PLACING_SECONDS = 0.2
/** For how many priorities marks are kept. While a process meets more, its looks begin without marks: slower beside a snapshot, but nothing starves. */
const LEADS_MAX = 4
/** For how long a priority counts as in use after it was met, in milliseconds. */
const LEAD_IN_USE_MS = 600_000
/** After a look at the whole queue, no other follows for a placed step for this time for each entry, in milliseconds. */
const REST_FROM_PLACED_MS = 0.05

/** What to look at, as columns: parts of the queue of definitions, from a time (in seconds of the epoch) to `minutes` before now. */
export interface LookedAt {
  readonly definitionIds: readonly number[]
  readonly since: readonly number[]
  readonly minutes: readonly number[]
}

/** What a look found. Places in seconds of the epoch. */
export interface Found {
  /** Rows that were dequeued. */
  readonly dequeued: number
  /** It reached the end of what it looked at, and left nothing. */
  readonly isExhausted: boolean
  readonly definition_ids: readonly number[] | null
  /** For each of these definitions, perhaps several times, the place up to which all due rows are done, and a first one that it found in a minute. */
  readonly marks: readonly number[] | null
  readonly firsts: readonly number[] | null
  /** Entries of the index that the server read, dead ones included. Null or 0 if it does not count them (`track_counts`): then no marks are used. */
  readonly scanned: number | null
  /** The server's clock, in seconds of the epoch. */
  readonly now: number
}

export interface Look extends LookedAt {
  end(found: Found): void
}

/** What looks are at: all that is due; a queue without undos; or only undos. */
export type Band = 'all' | 'forward' | 'undos'

/** How this process has placed steps before their time, if it knows: undos, or by how many minutes. */
export type Placed = 'undos' | 'any' | readonly number[]

interface Mark {
  place: number
  /** The server's clock at the last look that has seen all bands. */
  seenAt: number
}

interface Part {
  readonly id: number
  readonly since: number
  readonly minutes: number
}

/**
 * How far the queue has been claimed. While somebody holds a snapshot open, for a backup or a long report, Postgres keeps every row dequeued since.
 * Each claim would then scan all these dead tuples before the first live row. So as soon as looks at the whole queue scan dead entries, looks begin
 * where the last one ended, and those that begin further behind are rationed by what they scan. They find what became due earlier but was committed
 * later.
 */
export class ClaimMarks {
  readonly #band: Band
  readonly #now: () => number
  readonly #marks = new Map<number, Mark>()
  readonly #rations = LOOKBACK_SECONDS.map(() => new LookRation())
  /** By how many minutes steps are placed before their time, as far as this process has met them, and when it did last. */
  readonly #leads = new Map<number, number>()
  #placed: 'whole' | 'wide' | undefined
  #restsFromPlacedUntil = NONE
  #looks = 0

  /** `now` in milliseconds, from any origin. */
  constructor(band: Band, now: () => number = () => performance.now()) {
    this.#band = band
    this.#now = now
  }

  /**
   * Undos, and steps with a priority, are placed before their time, so perhaps behind a mark. If this process placed them, its next look is where they
   * are too; if it does not know where, at the whole queue, unless it was there just now.
   */
  placedBehind(placed: Placed): void {
    if (placed === 'any') this.#placed = 'whole'
    else if (placed.length > 0) {
      if (placed !== 'undos') for (const lead of placed) this.#meet(lead)
      this.#placed ??= 'wide'
    }
  }

  begin(definitionIds: readonly number[]): Look {
    const now = this.#now()
    const isPlaced = this.#placed === 'whole' && now >= this.#restsFromPlacedUntil
    for (const [lead, metAt] of this.#leads) if (now - metAt > LEAD_IN_USE_MS) this.#leads.delete(lead)
    const isUnmarked = isPlaced || this.#leads.size > LEADS_MAX
    const kind = isUnmarked ? WHOLE : this.#rations.findLastIndex((ration) => ration.isDue(now))
    this.#looks += 1
    const isWide = this.#looks % WIDE_EVERY === 0 || this.#placed !== undefined || kind >= 0
    if (kind === WHOLE || this.#placed === 'wide') this.#placed = undefined
    const behind = LOOKBACK_SECONDS[kind] ?? OVERLAP_SECONDS
    return {
      ...lookedAt(definitionIds.flatMap((id) => this.#partsOf(id, behind, isWide))),
      end: (found) => {
        const vain = scannedInVain(found, definitionIds.length)
        this.#mark(definitionIds, found, { behind, isWide, isInVain: vain > 0 })
        for (const ration of this.#rations) ration.earn(found.dequeued)
        if (kind < 0) return
        this.#rations[kind]!.spend(vain, this.#now())
        if (isPlaced) this.#restsFromPlacedUntil = this.#now() + vain * REST_FROM_PLACED_MS
      },
    }
  }

  #partsOf(id: number, behind: number, isWide: boolean): readonly Part[] {
    const { place, seenAt } = this.#markOf(id)
    const part = { id, since: place - behind, minutes: this.#band === 'undos' ? UNDO_LEAD_MINUTES - 1 : 0 }
    if (!isWide || this.#band === 'undos' || part.since === NONE) return [part]
    const leads = [...(this.#band === 'all' ? [UNDO_LEAD_MINUTES] : []), ...this.#leads.keys()]
    return [
      part,
      ...leads
        .filter((lead) => seenAt - lead * 60 < part.since)
        .map((lead) => ({
          id,
          since: seenAt - lead * 60 - Math.max(behind, PLACING_SECONDS),
          minutes: lead - 1,
        })),
    ]
  }

  #mark(
    definitionIds: readonly number[],
    { isExhausted, definition_ids: ids, marks, firsts, now }: Found,
    {
      behind,
      isWide,
      isInVain,
    }: { readonly behind: number; readonly isWide: boolean; readonly isInVain: boolean },
  ): void {
    ids?.forEach((id, index) => {
      const first = firsts![index]!
      if (first < this.#markOf(id).place - 60) this.#meet(Math.floor((now - first) / 60))
    })
    ids?.forEach((id, index) => {
      const mark = this.#markOf(id)
      const place = marks![index]!
      // It may have left others behind the mark. If it got no further than a band, it knows nothing of the rest.
      if (place > mark.place || (!isExhausted && place >= mark.place - behind)) mark.place = place
    })
    if (!isExhausted) return
    for (const mark of definitionIds.map((id) => this.#markOf(id))) {
      if (isWide) mark.seenAt = now
      // What it scanned in vain, the next look need not scan again. What became due long enough ago was seen, if it was committed.
      const lead = this.#band === 'undos' ? UNDO_LEAD_MINUTES * 60 : 0
      if (isInVain) mark.place = Math.max(mark.place, now - lead - PLACING_SECONDS)
    }
  }

  #meet(lead: number): void {
    if (lead <= 0 || lead >= UNDO_LEAD_MINUTES - 1) return
    if (this.#leads.has(lead) || this.#leads.size <= LEADS_MAX) this.#leads.set(lead, this.#now())
  }

  #markOf(id: number): Mark {
    const mark = this.#marks.get(id) ?? { place: NONE, seenAt: NONE }
    this.#marks.set(id, mark)
    return mark
  }
}

/** Of what a look has scanned, what was not there to be dequeued: it looks for the first row of each definition, and then for all. */
function scannedInVain({ scanned, dequeued }: Found, definitions: number): number {
  return Math.max(0, (scanned ?? 0) - 2 * dequeued - 2 * definitions)
}

function lookedAt(parts: readonly Part[]): LookedAt {
  return {
    definitionIds: parts.map(({ id }) => id),
    since: parts.map(({ since }) => since),
    minutes: parts.map(({ minutes }) => minutes),
  }
}
