/** The most entries in each of the two generations. */
const ENTRIES_MAX = 10_000

/** The entries that were set last, at least 10,000 of them. Bounded, so that what is never removed does not grow. */
export class Recent<Value> {
  #young = new Map<string, Value>()
  #old: ReadonlyMap<string, Value> = new Map()

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= ENTRIES_MAX) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
