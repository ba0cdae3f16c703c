import type { DatedRun, ItemCount, ReadItems, StepRecord, ValueRecord } from '../../adapter/index.ts'
import type { MarkedSteps } from '../base/definition-registry.ts'

/** A run as it was read. Watchers share it. */
export interface SeenRun extends MarkedSteps {
  readonly run: DatedRun
  readonly steps: readonly StepRecord[]
  readonly values: readonly ValueRecord[]
  /** The items among the steps. Undefined if they were not read in groups, or not at all. */
  readonly items?: ReadItems | undefined
  /** Only if not all items of maps were read. */
  readonly itemCounts?: readonly ItemCount[] | undefined
}

/** The states of one run for one watcher. Keeps only the newest: a slow watcher skips states, and never makes a queue grow. */
export class RunFeed {
  readonly runId: string
  /** Whether its states have the items of maps and the rounds of loops. If not, they may have some. */
  readonly withItems: boolean
  readonly #onStop: () => void
  #newest: SeenRun | undefined
  #error: unknown
  #hasFailed = false
  #isStopped = false
  #wake: () => void = () => {}
  #isAwaited = false

  constructor(runId: string, withItems: boolean, onStop: () => void) {
    this.runId = runId
    this.withItems = withItems
    this.#onStop = onStop
  }

  /** Whether somebody waits for the next state. */
  get isAwaited(): boolean {
    return this.#isAwaited
  }

  /** Resolves to the newest state that was not taken before, or to undefined once the feed is stopped. Rejects once it has failed. */
  async next(): Promise<SeenRun | undefined> {
    while (this.#newest === undefined && !this.#hasFailed && !this.#isStopped) {
      this.#isAwaited = true
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#isAwaited = false
    if (this.#isStopped) return undefined
    const newest = this.#newest
    this.#newest = undefined
    if (newest === undefined) throw this.#error
    return newest
  }

  see(run: SeenRun): void {
    this.#newest = run
    this.#wake()
  }

  /** A state that was seen before is still given. */
  fail(error: unknown): void {
    this.#hasFailed = true
    this.#error = error
    this.#wake()
  }

  /** Ends at once: for a watcher that gives up. */
  cut(error: unknown): void {
    this.#newest = undefined
    this.fail(error)
  }

  stop(): void {
    this.#isStopped = true
    this.#wake()
    this.#onStop()
  }
}
