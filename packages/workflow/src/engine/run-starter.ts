import type { Adapter, NewRun, StartedRun } from '../adapter/index.ts'
import { isUnavailable, type OutageWatch } from './outage.ts'
import { pause, type Runtime } from './runtime.ts'

/** Runs that one call to the store starts at most. */
const BATCH_MAX = 1_000
/** Calls under way at once. */
const LANES_MAX = 2
/** How often a call that was not answered is made again before the caller is told. */
const REPEATS_MAX = 3

interface Entry {
  readonly run: NewRun
  readonly resolve: (started: StartedRun) => void
  readonly reject: (error: unknown) => void
}

/**
 * Starts runs in batches that size themselves: a lone start leaves at once; while calls are under way the others gather. A call whose
 * answer was lost is made again: run ids are made here, so that a run it had stored is recognised and not stored twice.
 */
export class RunStarter {
  readonly #adapter: Adapter
  readonly #runtime: Runtime
  readonly #outage: OutageWatch
  readonly #waiting: Entry[] = []
  #lanes = 0
  #scheduled = false

  constructor(parts: { adapter: Adapter; runtime: Runtime; outage: OutageWatch }) {
    this.#adapter = parts.adapter
    this.#runtime = parts.runtime
    this.#outage = parts.outage
  }

  /** Resolves once the run is stored, to what the store says of it. */
  start(run: NewRun): Promise<StartedRun> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, resolve, reject })
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
        void this.#send(this.#waiting.splice(0, BATCH_MAX)).finally(() => {
          this.#lanes -= 1
          this.#schedule()
        })
      }
    })
  }

  async #send(batch: readonly Entry[]): Promise<void> {
    try {
      const started = await this.#startRuns(batch.map(({ run }) => run))
      batch.forEach(({ resolve }, index) => {
        resolve(started[index]!)
      })
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // One run that the store refuses must not keep the others of its batch from starting.
      const middle = batch.length >> 1
      await this.#send(batch.slice(0, middle))
      await this.#send(batch.slice(middle))
    }
  }

  async #startRuns(runs: readonly NewRun[], repeats = 0): Promise<readonly StartedRun[]> {
    try {
      const started = await this.#adapter.startRuns(runs)
      this.#outage.succeeded()
      if (repeats === 0) return started
      // The holder is the run itself: an earlier call had stored it.
      return started.map((run, index) => (run.runId === runs[index]!.runId ? { ...run, created: true } : run))
    } catch (error) {
      if (!isUnavailable(error) || repeats >= REPEATS_MAX) throw error
      await pause(this.#runtime.clock, this.#outage.failed(error))
      return this.#startRuns(runs, repeats + 1)
    }
  }
}
