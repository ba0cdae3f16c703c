/** Random numbers from a seed: the same seed gives the same choices in the same order. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to just below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** An integer, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)]!
  }

  /** One of the items, with a probability by weight. */
  weighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0)
    for (const item of items) {
      left -= item.weight
      if (left < 0) return item
    }
    return items.at(-1)!
  }

  /** Waiting times of independent events, cut off at five times their mean. */
  pauseMs(meanMs: number): number {
    return Math.min(-Math.log(1 - this.next()) * meanMs, 5 * meanMs)
  }

  seed(): number {
    return Math.floor(this.next() * 2 ** 31)
  }
}

/** A number from 0 to below 1 that depends only on the seed and a name, not on earlier draws. */
export function drawn(seed: number, name: string): number {
  let hash = seed >>> 0
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 16_777_619)
  return new Random(hash).next()
}
