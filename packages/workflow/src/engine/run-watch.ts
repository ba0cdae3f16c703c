import { type Adapter, isTerminal, type RunStatus } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import { Loop } from './loop.ts'
import type { OutageWatch } from './outage.ts'
import type { RunSnapshot } from './run-snapshot.ts'
import { isOver, runSnapshot } from './run-snapshot.ts'
import type { Runtime } from './runtime.ts'

/** Runs asked about in one statement at most. */
const ASK_MAX = 1_000

interface Waiter {
  readonly resolve: (run: RunSnapshot) => void
  readonly reject: (error: unknown) => void
}

/**
 * Waits for runs to end. Ends that happen in this process are told; for the others one statement asks after all awaited runs together,
 * each tick, and only while somebody waits.
 */
export class RunWatch {
  readonly #adapter: Adapter
  readonly #loop: Loop
  readonly #waiters = new Map<string, Waiter[]>()
  #closed = false

  constructor(parts: { adapter: Adapter; runtime: Runtime; tickMs: number; outage: OutageWatch }) {
    this.#adapter = parts.adapter
    this.#loop = new Loop({
      clock: parts.runtime.clock,
      intervalMs: parts.tickMs,
      work: async () => {
        await this.#ask()
        if (this.#waiters.size > 0) parts.outage.succeeded()
      },
      onError: (error) => parts.outage.failed(error),
      mayRest: () => this.#waiters.size === 0,
    })
  }

  /** Resolves with the run once it is over; rejects with `unknown_run` or `engine_closed`. */
  over(runId: string): Promise<RunSnapshot> {
    if (this.#closed) return Promise.reject(closedError(runId))
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(runId) ?? []
      this.#waiters.set(runId, [...waiters, { resolve, reject }])
      this.#loop.wake()
    })
  }

  /** Statuses that this process has just seen. */
  changed(runs: readonly { readonly runId: string; readonly status: RunStatus }[]): void {
    if (runs.some(({ runId, status }) => mayBeOver(status) && this.#waiters.has(runId))) this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#loop.stop()
    for (const runId of [...this.#waiters.keys()]) {
      this.#end(runId, (waiter) => waiter.reject(closedError(runId)))
    }
  }

  async #ask(): Promise<void> {
    const awaited = [...this.#waiters.keys()]
    for (let start = 0; start < awaited.length; start += ASK_MAX) {
      const asked = awaited.slice(start, start + ASK_MAX)
      const found = await this.#adapter.readStatuses(asked)
      const statuses = new Map(found.map(({ runId, status }) => [runId, status]))
      for (const runId of asked) await this.#look(runId, statuses.get(runId))
    }
  }

  async #look(runId: string, status: RunStatus | undefined): Promise<void> {
    if (status !== undefined && !mayBeOver(status)) return
    const found = status === undefined ? null : await this.#adapter.readRun(runId)
    if (found === null) {
      const error = new BelayError(
        'unknown_run',
        `There is no run ${runId}: it was pruned, or never started.`,
        { runId },
      )
      return this.#end(runId, (waiter) => waiter.reject(error))
    }
    if (isOver(found.run, found.steps)) {
      const run = runSnapshot(found)
      this.#end(runId, (waiter) => waiter.resolve(run))
    }
  }

  #end(runId: string, tell: (waiter: Waiter) => void): void {
    const waiters = this.#waiters.get(runId) ?? []
    this.#waiters.delete(runId)
    waiters.forEach(tell)
  }
}

function mayBeOver(status: RunStatus): boolean {
  return isTerminal(status) || status === 'compensation_failed'
}

function closedError(runId: string): BelayError {
  return new BelayError(
    'engine_closed',
    `The engine was closed while run ${runId} was awaited. The run goes on; get it again with engine.runs.get().`,
    { runId },
  )
}
