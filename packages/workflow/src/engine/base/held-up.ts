import type { Clock } from '../../clock.ts'
import { pause } from './runtime.ts'

const DELAY_MIN_MS = 50
const DELAY_MAX_MS = 1_000

export interface HeldUpOptions<Item> {
  readonly clock: Clock
  /** The longest pause between two rounds, in milliseconds. Default 1,000. */
  readonly delayMaxMs?: number
  /** Tries an item again. Adds it again if it is still held up. Never rejects. */
  readonly retry: (item: Item) => Promise<void>
}

/**
 * Items that wait for a row locked by another transaction, or that the store refuses. They are retried one at a time: together they use one connection of the store, and
 * nothing else waits for them.
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

  /** Removes and returns the waiting items. */
  clear(): readonly Item[] {
    return this.#items.splice(0)
  }

  async #tryAll(): Promise<void> {
    const { clock, retry, delayMaxMs = DELAY_MAX_MS } = this.#options
    this.#trying = true
    for (let delayMs = DELAY_MIN_MS; this.#items.length > 0; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      await pause(clock, delayMs)
      const before = this.#items.length
      // Items added meanwhile are tried in the next round.
      for (let turn = 0; turn < before; turn += 1) {
        const item = this.#items.shift()
        if (item !== undefined) await retry(item)
      }
      if (this.#items.length < before) delayMs = DELAY_MIN_MS
    }
    this.#trying = false
  }
}
