import type { Adapter, Outcome, Settlement } from '../adapter/index.ts'
import { isUnavailable, type OutageWatch } from './outage.ts'
import { pause, type Runtime } from './runtime.ts'

/** Outcomes that one call to the store settles at most. */
const BATCH_MAX = 500
/** Calls under way at once: two keep two cores of the store busy, and a third waits while this process prepares the next. */
const LANES_MAX = 3
/** How often a single outcome that the store refuses is tried before the worker gives up its identity. */
const REFUSALS_MAX = 5

export type SettleResult = 'settled' | 'lost' | 'abandoned'

export interface SettlerOptions<Item> {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly workerId: string
  /** How many of the steps that these make ready the worker could take: it keeps the room for them until they are answered. */
  readonly reserve: (entries: readonly SettlerEntry<Item>[]) => number
  readonly unreserve: (room: number) => void
  /** Called once for each, when it is recorded or known to be void. */
  readonly onResult: (entry: SettlerEntry<Item>, result: SettleResult) => void
  /** Called once for each call, after its results. */
  readonly onSettled: (settlement: Settlement) => void
  /** A call's answer was lost: claims may have been handed back that this worker has not heard of. */
  readonly onUnsure: () => void
  /** The store keeps refusing an outcome that it should take. */
  readonly onRefused: (error: unknown) => void
}

/** An outcome, and whose it is. */
export interface SettlerEntry<Item> {
  readonly item: Item
  readonly outcome: Outcome
}

/**
 * Settles outcomes in batches that size themselves: a lone outcome leaves at once; while all lanes are busy the others gather.
 * A batch whose answer was lost is sent again until it is answered, which the store makes harmless.
 */
export class Settler<Item> {
  readonly #options: SettlerOptions<Item>
  #waiting: SettlerEntry<Item>[] = []
  readonly #lanes = new Set<Promise<void>>()
  #paused = false
  #abandoned = false
  #scheduled = false

  constructor(options: SettlerOptions<Item>) {
    this.#options = options
  }

  /** Outcomes not yet taken up by a call. */
  get backlog(): number {
    return this.#waiting.length
  }

  /** True once it has given up on everything not yet answered. */
  get isAbandoned(): boolean {
    return this.#abandoned
  }

  settle(entry: SettlerEntry<Item>): void {
    if (this.#abandoned) {
      this.#options.onResult(entry, 'abandoned')
      return
    }
    this.#waiting.push(entry)
    this.#schedule()
  }

  /** Lets calls under way end and starts no others until `resume`. */
  async pause(): Promise<void> {
    this.#paused = true
    while (this.#lanes.size > 0) await Promise.all(this.#lanes)
  }

  resume(): void {
    this.#paused = false
    this.#schedule()
  }

  /** Gives up on everything not yet answered: the leases are left to expire. */
  abandon(): void {
    this.#abandoned = true
    for (const entry of this.#waiting.splice(0)) this.#options.onResult(entry, 'abandoned')
  }

  /** One microtask later, so that outcomes of one moment share a call. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#fillLanes()
    })
  }

  #fillLanes(): void {
    while (!this.#paused && this.#lanes.size < LANES_MAX && this.#waiting.length > 0) {
      const lane = this.#send(this.#waiting.splice(0, BATCH_MAX)).finally(() => {
        this.#lanes.delete(lane)
        this.#schedule()
      })
      this.#lanes.add(lane)
    }
  }

  async #send(batch: readonly SettlerEntry<Item>[], refusals = 0): Promise<void> {
    const { runtime, outage } = this.#options
    try {
      const settlement = await this.#call(batch)
      outage.succeeded()
      // Results first: nobody may see a dependent start before the step it waited for has ended.
      batch.forEach((entry, index) => {
        this.#options.onResult(entry, settlement.results[index] ?? 'lost')
      })
      this.#options.onSettled(settlement)
    } catch (error) {
      this.#options.onUnsure()
      const delayMs = outage.failed(error)
      if (isUnavailable(error)) {
        await pause(runtime.clock, delayMs)
        return this.#again(batch, 0)
      }
      // One bad outcome must not hold up the others of its batch: halve until it stands alone.
      if (batch.length > 1) {
        const middle = batch.length >> 1
        await this.#again(batch.slice(0, middle), 0)
        return this.#again(batch.slice(middle), 0)
      }
      await pause(runtime.clock, delayMs)
      if (refusals + 1 < REFUSALS_MAX) return this.#again(batch, refusals + 1)
      this.#options.onRefused(error)
      for (const entry of batch) this.#options.onResult(entry, 'abandoned')
    }
  }

  async #call(batch: readonly SettlerEntry<Item>[]): Promise<Settlement> {
    const { adapter, workerId, reserve, unreserve } = this.#options
    const handBackMax = reserve(batch)
    try {
      const outcomes = batch.map((entry) => entry.outcome)
      return await adapter.settle({ workerId, outcomes, handBackMax })
    } finally {
      unreserve(handBackMax)
    }
  }

  async #again(batch: readonly SettlerEntry<Item>[], refusals: number): Promise<void> {
    if (!this.#abandoned) return this.#send(batch, refusals)
    for (const entry of batch) this.#options.onResult(entry, 'abandoned')
  }
}
