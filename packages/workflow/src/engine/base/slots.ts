import pLimit, { type LimitFunction } from 'p-limit'

export interface SlotsOptions<Item, End> {
  readonly concurrency: number
  /** Slots beyond these, for items that were put first. Default 0. */
  readonly reserved?: number
  /** Performs an item. Never throws, never rejects. */
  readonly perform: (item: Item) => End | Promise<End>
  /** The item's slot is free again. */
  readonly onEnd: (item: Item, end: End) => void
}

/**
 * Performs items in order, those that were put first before all others, at most `concurrency` at once. While that many are busy, items that were put
 * first begin in the `reserved` slots. A slot performs one item after the other, and opens the next slot only when it must wait. So items that end
 * synchronously use only one slot of the limiter.
 */
export class Slots<Item, End> {
  readonly #options: SlotsOptions<Item, End>
  readonly #limit: LimitFunction
  readonly #limitOfReserved: LimitFunction | undefined
  #queue: Item[] = []
  /** Items that begin before all of the queue. */
  readonly #first: Item[] = []
  #next = 0
  #busy = 0
  #opening = false
  #reservedOpen = 0

  constructor(options: SlotsOptions<Item, End>) {
    this.#options = options
    this.#limit = pLimit(options.concurrency)
    const { reserved = 0 } = options
    this.#limitOfReserved = reserved > 0 ? pLimit(reserved) : undefined
  }

  /** How many more items could begin at once. Negative if more items are queued than slots are free. */
  get free(): number {
    return this.#options.concurrency - this.#busy - this.waiting
  }

  /** Items that have begun and not ended, also in reserved slots. */
  get busy(): number {
    return this.#busy
  }

  /** Items that have not begun. */
  get waiting(): number {
    return this.#first.length + this.#queue.length - this.#next
  }

  /** Takes back the items that have not begun, but for the first `kept` and those that were put first. */
  withdraw(kept: number): Item[] {
    return this.#queue.splice(this.#next + Math.max(0, kept - this.#first.length))
  }

  add(item: Item): void {
    this.#queue.push(item)
    this.#open()
  }

  /** Adds an item that begins before those that wait, but after others that were put first. */
  addFirst(item: Item): void {
    this.#first.push(item)
    this.#open()
  }

  #open(): void {
    this.#openReserved()
    if (this.#opening || this.waiting === 0) return
    this.#opening = true
    void this.#limit(() => this.#work())
  }

  /** As many as there are items for them. One that finds none, since another slot was free sooner, ends at once. */
  #openReserved(): void {
    const limit = this.#limitOfReserved
    if (limit === undefined || this.#first.length === 0 || !this.#isFull) return
    if (this.#reservedOpen >= limit.concurrency) return
    this.#reservedOpen += 1
    void limit(() => this.#performWhile(() => this.#takeReserved()))
  }

  /** Counted here, not by the limiter, which counts an ended function until some microtasks later: what comes in between would open no slot. */
  #takeReserved(): Item | undefined {
    const item = this.#isFull ? this.#first.shift() : undefined
    if (item === undefined) this.#reservedOpen -= 1
    return item
  }

  get #isFull(): boolean {
    return this.#busy >= this.#options.concurrency
  }

  #work(): Promise<void> {
    this.#opening = false
    return this.#performWhile(() => this.#take())
  }

  async #performWhile(take: () => Item | undefined): Promise<void> {
    const { perform, onEnd } = this.#options
    for (let item = take(); item !== undefined; item = take()) {
      this.#busy += 1
      const ending = perform(item)
      if (ending instanceof Promise) this.#open()
      const end = ending instanceof Promise ? await ending : ending
      this.#busy -= 1
      onEnd(item, end)
    }
  }

  #take(): Item | undefined {
    if (this.#first.length > 0) return this.#first.shift()
    const item = this.#queue[this.#next]
    if (item === undefined) return undefined
    this.#next += 1
    // Remove taken items only in bulk: shift() on a long array moves all the others.
    if (this.#next === this.#queue.length || this.#next === CUT_AT) {
      this.#queue = this.#queue.slice(this.#next)
      this.#next = 0
    }
    return item
  }
}

const CUT_AT = 1_024
