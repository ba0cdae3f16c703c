/** Beyond so many keys an index is made. */
const LOOKED_THROUGH_MAX = 64

/**
 * A map that mostly has few keys, which are looked through. It can be emptied and filled again without making anything: maps of their own for each
 * fold of each run were much of a worker’s garbage. Keys keep the order in which they came, until one is deleted.
 */
export class Few<Key, Value> {
  readonly #keys: (Key | undefined)[] = []
  readonly #values: (Value | undefined)[] = []
  #index: Map<Key, number> | null = null
  size = 0

  has(key: Key): boolean {
    return this.#placeOf(key) >= 0
  }

  get(key: Key): Value | undefined {
    const place = this.#placeOf(key)
    return place < 0 ? undefined : this.#values[place]
  }

  set(key: Key, value: Value): void {
    let place = this.#placeOf(key)
    if (place < 0) {
      place = this.size
      this.size += 1
      this.#keys[place] = key
      if (this.#index !== null || this.size > LOOKED_THROUGH_MAX) this.#indexAt(place)
    }
    this.#values[place] = value
  }

  delete(key: Key): boolean {
    const place = this.#placeOf(key)
    if (place < 0) return false
    this.size -= 1
    const last = this.size
    const moved = this.#keys[last]!
    this.#keys[place] = moved
    this.#values[place] = this.#values[last]
    this.#keys[last] = undefined
    this.#values[last] = undefined
    this.#index?.delete(key)
    if (place !== last) this.#index?.set(moved, place)
    return true
  }

  clear(): void {
    for (let place = 0; place < this.size; place += 1) {
      this.#keys[place] = undefined
      this.#values[place] = undefined
    }
    this.#index = null
    this.size = 0
  }

  /** The key at a place, from 0 to below `size`. */
  keyAt(place: number): Key {
    return this.#keys[place]!
  }

  at(place: number): Value {
    return this.#values[place]!
  }

  /** What it has now: it may be changed meanwhile. */
  values(): Value[] {
    return this.#values.slice(0, this.size) as Value[]
  }

  #placeOf(key: Key): number {
    if (this.#index !== null) return this.#index.get(key) ?? -1
    for (let place = 0; place < this.size; place += 1) if (this.#keys[place] === key) return place
    return -1
  }

  #indexAt(place: number): void {
    if (this.#index !== null) this.#index.set(this.#keys[place]!, place)
    else this.#index = new Map(this.#keys.slice(0, this.size).map((key, at) => [key!, at]))
  }
}
