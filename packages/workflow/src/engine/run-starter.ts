import type { NewRun, StartedRun } from '../adapter/index.ts'
import { isUnavailable, type OutageWatch } from './outage.ts'
import { pause, type Runtime } from './runtime.ts'

/** Runs that one call to the store starts at most. */
export const STARTS_MAX = 1_000
/** Calls under way at once. */
const LANES_MAX = 3
/** How often a call that was not answered is made again before the caller is told. */
const REPEATS_MAX = 3

/** What became of one start: what the store says of the run, or why it was not started. */
export type Start =
  | (StartedRun & { readonly refused?: undefined })
  | { readonly refused: true; readonly error: unknown }

export interface RunStarterParts {
  /** One call to the store. */
  readonly store: (runs: readonly NewRun[]) => Promise<readonly StartedRun[]>
  readonly runtime: Runtime
  readonly outage: OutageWatch
}

interface Entry {
  readonly runs: readonly NewRun[]
  readonly resolve: (starts: readonly Start[]) => void
}

/**
 * Starts runs in batches that size themselves: a lone start leaves at once; while calls are under way the others gather. A call whose
 * answer was lost is made again: run ids are made here, so that a run it had stored is recognised and not stored twice.
 */
export class RunStarter {
  readonly #store: RunStarterParts['store']
  readonly #runtime: Runtime
  readonly #outage: OutageWatch
  readonly #waiting: Entry[] = []
  #lanes = 0
  #scheduled = false

  constructor(parts: RunStarterParts) {
    this.#store = parts.store
    this.#runtime = parts.runtime
    this.#outage = parts.outage
  }

  /** Resolves once the run is stored, to what the store says of it. */
  async start(run: NewRun): Promise<StartedRun> {
    const [start] = await this.startMany([run])
    if (start!.refused) throw start!.error
    return start!
  }

  /** Up to {@link STARTS_MAX} runs in one call to the store. Resolves, in order, to what became of each; one that is refused hinders no other. */
  startMany(runs: readonly NewRun[]): Promise<readonly Start[]> {
    return new Promise((resolve) => {
      this.#waiting.push({ runs, resolve })
      this.#schedule()
    })
  }

  /** One microtask later, so that starts of one moment share a call. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      while (this.#lanes < LANES_MAX && this.#waiting.length > 0) {
        this.#lanes += 1
        void this.#send(this.#nextBatch()).finally(() => {
          this.#lanes -= 1
          this.#schedule()
        })
      }
    })
  }

  #nextBatch(): readonly Entry[] {
    let runs = 0
    const end = this.#waiting.findIndex((entry, index) => {
      runs += entry.runs.length
      return index > 0 && runs > STARTS_MAX
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  async #send(batch: readonly Entry[]): Promise<void> {
    const starts = await this.#startEach(
      batch.length === 1 ? batch[0]!.runs : batch.flatMap(({ runs }) => runs),
    )
    let first = 0
    for (const { runs, resolve } of batch) {
      resolve(starts.slice(first, first + runs.length))
      first += runs.length
    }
  }

  /** Never rejects. */
  async #startEach(runs: readonly NewRun[]): Promise<readonly Start[]> {
    try {
      return await this.#startAll(runs)
    } catch (error) {
      if (runs.length === 1 || isUnavailable(error)) return runs.map(() => ({ refused: true, error }))
      // One run that the store refuses must not keep the others of its batch from starting.
      const middle = runs.length >> 1
      return [
        ...(await this.#startEach(runs.slice(0, middle))),
        ...(await this.#startEach(runs.slice(middle))),
      ]
    }
  }

  async #startAll(runs: readonly NewRun[], repeats = 0): Promise<readonly StartedRun[]> {
    try {
      const started = await this.#store(runs)
      this.#outage.succeeded()
      if (repeats === 0) return started
      // The holder is the run itself: an earlier call had stored it.
      return started.map((run, index) => (run.runId === runs[index]!.runId ? { ...run, created: true } : run))
    } catch (error) {
      if (!isUnavailable(error) || repeats >= REPEATS_MAX) throw error
      await pause(this.#runtime.clock, this.#outage.failed(error))
      return this.#startAll(runs, repeats + 1)
    }
  }
}
