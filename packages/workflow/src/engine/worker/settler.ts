import type { Adapter, LimitEntry, Outcome, Settlement, SlotHolder } from '../../adapter/index.ts'
import { HeldUp } from '../base/held-up.ts'
import type { Meter } from '../base/meter.ts'
import type { OutageWatch } from '../base/outage.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'
import type { Reservation } from './capacity.ts'

/** The most outcomes that one call to the store settles. */
const BATCH_MAX = 500
/** The most concurrent calls: two keep two cores of the store busy, and a third is ready while this process prepares the next. */
const LANES_MAX = 3
/** The longest pause between two tries of what the store refuses: it may take an operator to change that. */
const REFUSED_PAUSE_MAX_MS = 10_000
/** After this many held-up tries, about five seconds, onHeldUp is called. */
const HELD_UP_TRIES = 8

/** `full`: this entry had no slot, and what it says for that case is recorded. */
export type SettleResult = 'settled' | 'lost' | 'parked' | 'abandoned' | { readonly full: LimitEntry }

export interface SettlerOptions<Item> {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly meter: Meter
  readonly workerId: string
  readonly keepAttempts: boolean
  /** Reserves slots for the steps that these outcomes make ready, until the call was answered and the steps were taken on. */
  readonly reserve: (entries: readonly SettlerEntry<Item>[]) => Reservation
  /** The attempts whose slots are freed with these outcomes; undefined for none. */
  readonly frees: (entries: readonly SettlerEntry<Item>[]) => readonly SlotHolder[] | undefined
  /** Called once for each outcome, when it is recorded or known to be void. */
  readonly onResult: (entry: SettlerEntry<Item>, result: SettleResult) => void
  /** Called once for each call, after its results. */
  readonly onSettled: (settlement: Settlement, entries: readonly SettlerEntry<Item>[]) => void
  /** A call's answer was lost: it may have contained claims. */
  readonly onUnsure: () => void
  /** Another open transaction has delayed this outcome for a while. Called once for each such outcome. */
  readonly onHeldUp: (entry: SettlerEntry<Item>, error: unknown) => void
  /** The replacement for an outcome that the store can never record, for the given reason; undefined if there is none. */
  readonly replacement: (entry: SettlerEntry<Item>, reason: string) => Outcome | undefined
  /** The store refuses this outcome, but accepts others. It is tried again, and this is called each time. */
  readonly onRefused: (entry: SettlerEntry<Item>, error: unknown) => void
}

/** An outcome and the item it belongs to. */
export interface SettlerEntry<Item> {
  readonly item: Item
  readonly outcome: Outcome
}

interface HeldEntry<Item> {
  readonly entry: SettlerEntry<Item>
  readonly tries: number
}

/**
 * Settles outcomes in batches that size themselves: a lone outcome is sent at once; while all lanes are busy, outcomes gather. A batch whose answer
 * was lost is sent again until it is answered; settling twice is harmless. A batch held up by a lock is split until only the outcome that needs the
 * locked row waits. In the same way a batch that the store refuses is split, whatever its reason: the outcome that is refused stays with this worker
 * and is tried again, since its handler has run.
 */
export class Settler<Item> {
  readonly #options: SettlerOptions<Item>
  readonly #heldUp: HeldUp<HeldEntry<Item>>
  readonly #refused: HeldUp<SettlerEntry<Item>>
  #waiting: SettlerEntry<Item>[] = []
  #lanes = 0
  #abandoned = false
  #scheduled = false

  constructor(options: SettlerOptions<Item>) {
    this.#options = options
    this.#heldUp = new HeldUp({
      clock: options.runtime.clock,
      retry: ({ entry, tries }) => this.#send([entry], tries),
    })
    this.#refused = new HeldUp({
      clock: options.runtime.clock,
      delayMaxMs: REFUSED_PAUSE_MAX_MS,
      retry: (entry) => this.#send([entry]),
    })
  }

  /** Outcomes not yet in a call, but for those that the store refuses: others are claimed meanwhile. */
  get backlog(): number {
    return this.#waiting.length + this.#heldUp.size
  }

  /** True after abandon(). */
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

  /** Gives up on all outcomes without an answer: their leases will expire. */
  abandon(): void {
    this.#abandoned = true
    for (const entry of this.#waiting.splice(0)) this.#options.onResult(entry, 'abandoned')
    for (const { entry } of this.#heldUp.clear()) this.#options.onResult(entry, 'abandoned')
    for (const entry of this.#refused.clear()) this.#options.onResult(entry, 'abandoned')
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
    while (this.#lanes < LANES_MAX && this.#waiting.length > 0) {
      this.#lanes += 1
      void this.#send(this.#waiting.splice(0, BATCH_MAX)).finally(() => {
        this.#lanes -= 1
        this.#schedule()
      })
    }
  }

  /** `heldUpBefore`: how often a single outcome has met a lock before. */
  #send(batch: readonly SettlerEntry<Item>[], heldUpBefore = 0): Promise<void> {
    const { runtime, outage, onHeldUp } = this.#options
    return sendApart(batch, {
      send: (part) => this.#call(part),
      refused: (entry, error) => this.#setAside(entry, error),
      heldUp: (entry, error) => {
        const tries = heldUpBefore + 1
        if (tries === HELD_UP_TRIES) onHeldUp(entry, error)
        this.#heldUp.add({ entry, tries })
      },
      unanswered: async (part, error) => {
        await pause(runtime.clock, outage.failed(error))
        return this.#send(part)
      },
    })
  }

  async #call(batch: readonly SettlerEntry<Item>[]): Promise<void> {
    const { adapter, workerId, keepAttempts, outage, reserve, onResult, onSettled, onUnsure } = this.#options
    const { meter, runtime } = this.#options
    const frees = this.#options.frees(batch)
    if (this.#abandoned) {
      for (const entry of batch) onResult(entry, 'abandoned')
      return
    }
    const room = reserve(batch)
    try {
      const outcomes = batch.map((entry) => entry.outcome)
      const sentAt = runtime.clock.now()
      const settlement = await adapter.settle({
        workerId,
        outcomes,
        handBackMax: room.max,
        keepAttempts,
        frees,
      })
      outage.succeeded()
      meter.settled(batch.length, sentAt)
      // Report results first: no listener may see a dependent start before the step it waited for has ended.
      const refused: { readonly entry: SettlerEntry<Item>; readonly reason: string }[] = []
      batch.forEach((entry, index) => {
        const result = settlement.results[index] ?? 'lost'
        if (typeof result === 'string' || 'full' in result) onResult(entry, result)
        else refused.push({ entry, reason: result.refused })
      })
      onSettled(settlement, batch)
      for (const { entry, reason } of refused) this.#replace(entry, reason)
    } catch (error) {
      // Part of the call may have been recorded, and may have leased steps.
      onUnsure()
      throw error
    } finally {
      room.end()
    }
  }

  /** Sends the replacement like any outcome. */
  #replace(entry: SettlerEntry<Item>, reason: string): void {
    const outcome = this.#options.replacement(entry, reason)
    if (outcome !== undefined) this.settle({ item: entry.item, outcome })
    else this.#setAside(entry, new Error(reason))
  }

  #setAside(entry: SettlerEntry<Item>, error: unknown): void {
    this.#options.onRefused(entry, error)
    this.#refused.add(entry)
  }
}
