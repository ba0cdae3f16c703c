import { type Adapter, isTerminal, type RunStatus } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { idlingOf, Loop, NEVER, NOW } from '../base/loop.ts'
import type { OutageWatch } from '../base/outage.ts'
import { type Runtime, stillnessOf } from '../base/runtime.ts'
import { readRun, readWholeRun } from './read-run.ts'
import { limitWait, type Patience, resultAborted } from './result-options.ts'
import type { SeenRun } from './run-feed.ts'
import { unknownRun } from './run-reference.ts'
import { isOver } from './run-snapshot.ts'
import { onStandstill } from './standstill.ts'

/** The most runs in one query. */
const ASK_MAX = 1_000

interface Waiter {
  readonly resolve: (run: SeenRun) => void
  readonly reject: (error: unknown) => void
  /** Releases the timer and the signal. */
  readonly stopWaiting: () => void
}

interface RunWatchParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly runtime: Runtime
  readonly tickMs: number
  readonly outage: OutageWatch
}

/**
 * Waits for runs to end. The process reports the ends it sees itself. For all other awaited runs, one query each tick reads their statuses, only
 * while there are waiters.
 */
export class RunWatch {
  readonly #adapter: Adapter
  readonly #registry: DefinitionRegistry
  readonly #loop: Loop
  readonly #runtime: Runtime
  readonly #tickMs: number
  readonly #waiters = new Map<string, Waiter[]>()
  /** Runs whose status this process has just seen: they need no query. */
  readonly #reported = new Map<string, RunStatus>()
  /** Runs awaited since the last round. */
  readonly #unasked = new Set<string>()
  #asksAllAt = 0
  #askedAll = false
  #closed = false

  constructor(parts: RunWatchParts) {
    this.#adapter = parts.adapter
    this.#registry = parts.registry
    this.#runtime = parts.runtime
    this.#tickMs = parts.tickMs
    this.#loop = new Loop({
      clock: parts.runtime.clock,
      intervalMs: parts.tickMs,
      work: async () => {
        if (await this.#round()) parts.outage.succeeded()
      },
      onError: (error) => {
        // The next round asks for all again, however soon it comes.
        this.#asksAllAt = 0
        return parts.outage.failed(error)
      },
      mayRest: () => this.#waiters.size === 0,
      idling: idlingOf(stillnessOf(parts.adapter, parts.runtime), () => (this.#askedAll ? NEVER : NOW)),
    })
  }

  /** Resolves to the run once it has ended; rejects with `unknown_run`, `engine_closed`, `result_timeout` or `result_aborted`. */
  over(runId: string, { timeoutMs, signal }: Partial<Patience> = {}): Promise<SeenRun> {
    if (this.#closed) return Promise.reject(closedError(runId))
    if (signal?.aborted) return Promise.reject(resultAborted({ runId }, signal))
    return new Promise((resolve, reject) => {
      const giveUp = (error: BelayError) => {
        this.#forget(runId, waiter)
        reject(error)
      }
      const { clock } = this.#runtime
      const stopLimit = limitWait({ clock, runId, timeoutMs, signal, giveUp })
      const stopWatch = onStandstill({ adapter: this.#adapter, runtime: this.#runtime, runId, giveUp })
      const stopWaiting = () => {
        stopLimit()
        stopWatch()
      }
      const waiter: Waiter = { resolve, reject, stopWaiting }
      this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), waiter])
      this.#unasked.add(runId)
      this.#loop.wake()
    })
  }

  /** Takes statuses that this process has just seen. */
  changed(runs: readonly { readonly runId: string; readonly status: RunStatus }[]): void {
    for (const { runId, status } of runs) {
      if (mayBeOver(status) && this.#waiters.has(runId)) this.#reported.set(runId, status)
    }
    if (this.#reported.size > 0) this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const runId of [...this.#waiters.keys()]) {
      this.#end(runId, (waiter) => waiter.reject(closedError(runId)))
    }
    await this.#loop.stop()
  }

  /** Reads the runs that are known to have ended. Queries newly awaited runs now, and all others once a tick. Whether it asked the store anything. */
  async #round(): Promise<boolean> {
    const reported = [...this.#reported]
    this.#reported.clear()
    await Promise.all(reported.map(([runId, status]) => this.#look(runId, status)))
    const now = this.#runtime.clock.now()
    const all = now >= this.#asksAllAt
    this.#askedAll = all
    if (all) this.#asksAllAt = now + this.#tickMs
    const asked = [...(all ? this.#waiters.keys() : this.#unasked)]
    this.#unasked.clear()
    await this.#ask(asked)
    return reported.length + asked.length > 0
  }

  async #ask(awaited: readonly string[]): Promise<void> {
    for (let start = 0; start < awaited.length; start += ASK_MAX) {
      const asked = awaited.slice(start, start + ASK_MAX)
      const found = await this.#adapter.readStatuses(asked, { stored: true })
      const statuses = new Map(found.map(({ runId, status }) => [runId, status]))
      await Promise.all(asked.map((runId) => this.#look(runId, statuses.get(runId))))
    }
  }

  async #look(runId: string, status: RunStatus | undefined): Promise<void> {
    if (status !== undefined && !mayBeOver(status)) return
    const found = status === undefined ? null : await this.#read(runId, status)
    if (found === null) {
      const error = unknownRun({ runId })
      return this.#end(runId, (waiter) => waiter.reject(error))
    }
    if (isOver(found.run, found.steps)) {
      this.#end(runId, (waiter) => waiter.resolve(found))
    }
  }

  /** A completed run gives outputs. Of any other, what was undone is told, item by item. */
  async #read(runId: string, status: RunStatus): Promise<SeenRun | null> {
    const reading = { adapter: this.#adapter, registry: this.#registry }
    const found = status === 'completed' ? await readRun(reading, runId) : null
    return found?.run.status === 'completed' ? found : readWholeRun(reading, runId, { outputs: false })
  }

  #end(runId: string, tell: (waiter: Waiter) => void): void {
    const waiters = this.#waiters.get(runId) ?? []
    this.#waiters.delete(runId)
    for (const waiter of waiters) {
      waiter.stopWaiting()
      tell(waiter)
    }
  }

  #forget(runId: string, waiter: Waiter): void {
    waiter.stopWaiting()
    const others = (this.#waiters.get(runId) ?? []).filter((other) => other !== waiter)
    if (others.length > 0) this.#waiters.set(runId, others)
    else this.#waiters.delete(runId)
  }
}

function mayBeOver(status: RunStatus): boolean {
  return isTerminal(status) || status === 'compensation_failed'
}

function closedError(runId: string): BelayError {
  return new BelayError(
    'engine_closed',
    `The engine was closed while run ${runId} was awaited. The run goes on. To await it again, call result() of engine.runs.handle(id) on another engine.`,
    { runId },
  )
}
