import type { Clock } from '../../clock.ts'
import { pause } from './runtime.ts'

const DELAY_MIN_MS = 50
const DELAY_MAX_MS = 1_000

export interface HeldUpOptions<Item> {
  readonly clock: Clock
  /** Tries an item again; adds it once more when it is still held up. Never rejects. */
  readonly retry: (item: Item) => Promise<void>
}

/**
 * What waits for a row that somebody else's transaction holds. It is tried again one item at a time, so that however many wait, they take
 * one of the store's connections, and nothing else waits with them.
 */
export class HeldUp<Item> {
  readonly #options: HeldUpOptions<Item>
  #items: Item[] = []
  #trying = false

  constructor(options: HeldUpOptions<Item>) {
    this.#options = options
  }

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.push(item)
    if (!this.#trying) void this.#tryAll()
  }

  /** Forgets what waits, and returns it. */
  clear(): readonly Item[] {
    return this.#items.splice(0)
  }

  async #tryAll(): Promise<void> {
    const { clock, retry } = this.#options
    this.#trying = true
    for (let delayMs = DELAY_MIN_MS; this.#items.length > 0; delayMs = Math.min(delayMs * 2, DELAY_MAX_MS)) {
      await pause(clock, delayMs)
      const before = this.#items.length
      // What is added meanwhile comes behind, and has its turn in the next round.
      for (let turn = 0; turn < before; turn += 1) {
        const item = this.#items.shift()
        if (item !== undefined) await retry(item)
      }
      if (this.#items.length < before) delayMs = DELAY_MIN_MS
    }
    this.#trying = false
  }
}

/** Parts of a batch that was held up as a whole: small enough that the held one is soon alone, few enough that each may wait a moment. */
export function partsOf<Item>(batch: readonly Item[]): readonly (readonly Item[])[] {
  const size = Math.floor(Math.sqrt(batch.length))
  const parts: (readonly Item[])[] = []
  for (let first = 0; first < batch.length; first += size) parts.push(batch.slice(first, first + size))
  return parts
}
