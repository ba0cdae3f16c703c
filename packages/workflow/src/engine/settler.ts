import type { Adapter, Outcome, Settlement } from '../adapter/index.ts'
import { isUnavailable, type OutageWatch } from './outage.ts'
import { pause, type Runtime } from './runtime.ts'

/** Outcomes that one call to the store settles at most. */
const BATCH_MAX = 500
/** Calls under way at once. Two keep the store busy while this process prepares the next batch. */
const LANES_MAX = 2
/** How often a single outcome that the store refuses is tried before the worker gives up its identity. */
const REFUSALS_MAX = 5

export type SettleResult = 'settled' | 'lost' | 'abandoned'

export interface SettlerOptions {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly workerId: string
  /** How many steps the worker could take right now. */
  readonly room: () => number
  readonly onSettled: (settlement: Settlement) => void
  /** A call's answer was lost: claims may have been handed back that this worker has not heard of. */
  readonly onUnsure: () => void
  /** The store keeps refusing an outcome that it should take. */
  readonly onRefused: (error: unknown) => void
}

interface Entry {
  readonly outcome: Outcome
  readonly done: (result: SettleResult) => void
}

/**
 * Settles outcomes in batches that size themselves: a lone outcome leaves at once; while all lanes are busy the others gather.
 * A batch whose answer was lost is sent again until it is answered, which the store makes harmless.
 */
export class Settler {
  readonly #options: SettlerOptions
  readonly #waiting: Entry[] = []
  readonly #lanes = new Set<Promise<void>>()
  #paused = false
  #abandoned = false
  #scheduled = false

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** Outcomes not yet taken up by a call. */
  get backlog(): number {
    return this.#waiting.length
  }

  /** Calls `done`, once, when the outcome is recorded or known to be void. */
  settle(outcome: Outcome, done: (result: SettleResult) => void): void {
    if (this.#abandoned) {
      done('abandoned')
      return
    }
    this.#waiting.push({ outcome, done })
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
    for (const entry of this.#waiting.splice(0)) entry.done('abandoned')
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

  async #send(batch: readonly Entry[], refusals = 0): Promise<void> {
    const { adapter, runtime, outage, workerId } = this.#options
    try {
      const settlement = await adapter.settle({
        workerId,
        outcomes: batch.map((entry) => entry.outcome),
        handBackMax: this.#options.room(),
      })
      outage.succeeded()
      // Results first: nobody may see a dependent start before the step it waited for has ended.
      batch.forEach((entry, index) => {
        entry.done(settlement.results[index] ?? 'lost')
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
      for (const entry of batch) entry.done('abandoned')
    }
  }

  async #again(batch: readonly Entry[], refusals: number): Promise<void> {
    if (!this.#abandoned) return this.#send(batch, refusals)
    for (const entry of batch) entry.done('abandoned')
  }
}
