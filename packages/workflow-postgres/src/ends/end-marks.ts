import { LookRation } from '../rows/look-ration.ts'

/** How many numbers behind its mark a look begins: an end may be committed after others with greater numbers. */
const OVERLAP = 100n
/** Rarer looks begin further behind, each kind as often as its cost allows; the last one is at all ends. */
const LOOKBACK = [1_000n, 20_000n, 'all'] as const
/** An end that nobody can follow yet holds the mark back so far and no further: then rarer looks find it. */
const HELD_BACK = 1_000n

/** What a look at the first ends found. Sequences as Postgres writes them. */
export interface FoundEnds {
  readonly ends: readonly { readonly definition_id: number; readonly sequence: string }[]
  /** It reached the last end. */
  readonly isExhausted: boolean
  /** The last number that was given before the look, to whatever end. Null if the role may not read it. */
  readonly last: string | null
  /** Entries of the index that the server read, dead ones included. Null or 0 if it does not count them (`track_counts`): then no marks are used. */
  readonly scanned: number | null
}

/**
 * How far the ends of runs were followed and forgotten, by definition. While somebody holds a snapshot open, the ends that were forgotten since stay in the
 * index, and each look would scan all of them. So as soon as looks at all ends scan dead entries, looks begin where the last one ended, as those of
 * `ClaimMarks` do.
 */
export class EndMarks {
  readonly #now: () => number
  readonly #marks = new Map<number, bigint>()
  readonly #rations = LOOKBACK.map(() => new LookRation())

  /** `now` in milliseconds, from any origin. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The number after which a look begins, for each definition; `end` takes what it found. */
  begin(definitionIds: readonly number[]): {
    readonly after: readonly string[]
    end(found: FoundEnds): void
  } {
    const now = this.#now()
    const kind = this.#rations.findLastIndex((ration) => ration.isDue(now))
    const behind = LOOKBACK[kind] ?? OVERLAP
    return {
      after: definitionIds.map((id) => {
        const mark = this.#markOf(id)
        return behind === 'all' || mark < behind ? '0' : String(mark - behind)
      }),
      end: (found) => {
        for (const id of definitionIds) this.#move(id, found)
        for (const ration of this.#rations) ration.earn(found.ends.length)
        const vain = (found.scanned ?? 0) - found.ends.length - definitionIds.length
        if (kind >= 0) this.#rations[kind]!.spend(Math.max(0, vain), this.#now())
      },
    }
  }

  #move(id: number, { ends, isExhausted, last }: FoundEnds): void {
    const sequences = ends.filter((end) => end.definition_id === id).map(({ sequence }) => BigInt(sequence))
    const newest = isExhausted && last !== null ? BigInt(last) : (sequences.at(-1) ?? 0n)
    const first = sequences[0] ?? newest + 1n
    const place = first - 1n > newest - HELD_BACK ? first - 1n : newest - HELD_BACK
    if (place > this.#markOf(id)) this.#marks.set(id, place)
  }

  #markOf(id: number): bigint {
    return this.#marks.get(id) ?? 0n
  }
}
