import type { Adapter, RunResult, RunStatus } from '../../adapter/index.ts'
import type { BelayError } from '../../errors.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { EventHub } from '../base/events.ts'
import { idlingOf, Loop, NEVER, NOW } from '../base/loop.ts'
import { isUnavailable, type OutageWatch } from '../base/outage.ts'
import { type Runtime, stillnessOf } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'
import type { StoreHistory } from '../base/store-history.ts'
import { closedError } from './closed-error.ts'
import { EndNews } from './end-news.ts'
import { mayBeOver } from './may-be-over.ts'
import { readWholeRun } from './read-run.ts'
import { limitWait, type Patience, resultAborted } from './result-options.ts'
import type { SeenRun } from './run-feed.ts'
import { lostRun, unknownRun } from './run-reference.ts'
import { isOver, outputsOfResult } from './run-snapshot.ts'
import { onStandstill } from './standstill.ts'
import type { AwaitedRun, WorkerLookout } from './worker-lookout.ts'

/** The most runs in one query. */
const ASK_MAX = 1_000
/** The most runs whose outputs are read in one query: each may have large ones. */
const RESULTS_MAX = 100
/** The most runs that are read one by one at once: reading must not take all connections. */
const READS_MAX = 4

/** How a run ended: with outputs, or not completed. */
export type Ended =
  | { readonly outputs: Readonly<Record<string, unknown>> }
  | { readonly outputs?: undefined; readonly seen: SeenRun }

interface Waiter {
  /** Since when it waits, by the engine's clock. */
  readonly since: number
  readonly resolve: (ended: Ended) => void
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
  readonly events: EventHub
  readonly lookout: WorkerLookout
  readonly history: Pick<StoreHistory, 'recent'>
}

/** How long to wait for a run, and what is known of it. */
export interface Awaiting extends Partial<Patience> {
  /** This process has started it. */
  readonly isStarted?: boolean | undefined
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
  readonly #lookout: WorkerLookout
  readonly #news: EndNews
  readonly #history: RunWatchParts['history']
  readonly #waiters = new Map<string, Waiter[]>()
  /** Awaited runs that were going on when the store was last asked. */
  readonly #seen = new Set<string>()
  /** Awaited runs that this process has started. */
  readonly #started = new Set<string>()
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
    this.#history = parts.history
    this.#lookout = parts.lookout
    this.#lookout.watch(() => this.#awaited())
    this.#news = new EndNews({
      adapter: parts.adapter,
      clock: parts.runtime.clock,
      onEnded: (runIds) => this.#hinted(runIds),
    })
    parts.events.on('worker.started', () => this.#news.work(true))
    parts.events.on('worker.stopped', () => this.#news.work(false))
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

  /** Resolves once the run has ended; rejects with `unknown_run`, `run_lost`, `engine_closed`, `result_timeout` or `result_aborted`. */
  over(runId: string, { timeoutMs, signal, isStarted }: Awaiting = {}): Promise<Ended> {
    if (this.#closed) return Promise.reject(closedError(runId))
    if (signal?.aborted) return Promise.reject(resultAborted({ runId }, signal))
    return new Promise((resolve, reject) => {
      const giveUp = (error: BelayError) => {
        this.#forget(runId, waiter)
        reject(error)
      }
      const { clock } = this.#runtime
      const advice = (id: string) => this.#lookout.advice(id)
      const stopLimit = limitWait({ clock, runId, timeoutMs, signal, advice, giveUp })
      const stopWatch = onStandstill({ adapter: this.#adapter, runtime: this.#runtime, runId, giveUp })
      const stopWaiting = () => {
        stopLimit()
        stopWatch()
      }
      const waiter: Waiter = { since: clock.now(), resolve, reject, stopWaiting }
      this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), waiter])
      this.#unasked.add(runId)
      if (isStarted) this.#started.add(runId)
      this.#news.awaiting(true)
      this.#lookout.awaited()
      this.#loop.wake()
    })
  }

  /** Takes statuses that this process has just seen. */
  changed(runs: readonly { readonly runId: string; readonly status: RunStatus }[]): void {
    for (const { runId, status } of runs) {
      if (mayBeOver(status) && this.#waiters.has(runId)) this.#reported.set(runId, status)
    }
    if (this.#reported.size > 0) this.#loop.wake()
    this.#news.changed(runs)
  }

  /** Another process says that these runs have ended. If that is wrong, they are still awaited. */
  #hinted(runIds: readonly string[]): void {
    for (const runId of runIds) if (this.#waiters.has(runId)) this.#reported.set(runId, 'completed')
    if (this.#reported.size > 0) this.#loop.wake()
  }

  *#awaited(): Generator<AwaitedRun> {
    for (const [runId, [first]] of this.#waiters) yield { runId, since: first!.since }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#lookout.close()
    for (const runId of [...this.#waiters.keys()]) {
      this.#end(runId, (waiter) => waiter.reject(closedError(runId)))
    }
    await this.#loop.stop()
    this.#news.close()
  }

  /** Reads the runs that are known to have ended. Queries newly awaited runs now, and all others once a tick. Whether it asked the store anything. */
  async #round(): Promise<boolean> {
    const reported = [...this.#reported]
    this.#reported.clear()
    await this.#look(reported)
    const now = this.#runtime.clock.now()
    const all = now >= this.#asksAllAt
    this.#askedAll = all
    if (all) this.#asksAllAt = now + this.#tickMs
    const asked = [...(all ? this.#waiters.keys() : this.#unasked)]
    this.#unasked.clear()
    await this.#ask(asked)
    // A process with a worker sees most ends by itself, and sooner.
    if (all || !this.#news.isWorking) this.#news.announce(asked.filter((runId) => this.#waiters.has(runId)))
    return reported.length + asked.length > 0
  }

  async #ask(awaited: readonly string[]): Promise<void> {
    for (let start = 0; start < awaited.length; start += ASK_MAX) {
      const asked = awaited.slice(start, start + ASK_MAX)
      const found = await this.#adapter.readStatuses(asked, { stored: true })
      const statuses = new Map(found.map(({ runId, status }) => [runId, status]))
      for (const runId of asked) if (!statuses.has(runId)) this.#fail(runId, this.#isLost(runId))
      for (const [runId, status] of statuses)
        if (!mayBeOver(status) && this.#waiters.has(runId)) this.#seen.add(runId)
      await this.#look([...statuses])
    }
  }

  /** Reads those of these runs that may be over: results together, and all others one by one. */
  async #look(statuses: readonly (readonly [runId: string, status: RunStatus])[]): Promise<void> {
    const over = statuses.filter(([, status]) => mayBeOver(status))
    const completed = over.filter(([, status]) => status === 'completed').map(([runId]) => runId)
    // A run that is not there any more was sent forward again, or deleted.
    const others = new Set(over.map(([runId]) => runId))
    for (let start = 0; start < completed.length; start += RESULTS_MAX) {
      await this.#apart(completed.slice(start, start + RESULTS_MAX), async (runIds) => {
        const results = await this.#adapter.readResults(runIds)
        await this.#registry.learn(results.map(({ definitionId }) => definitionId))
        for (const result of results) {
          others.delete(result.runId)
          const outputs = await this.#outputsOf(result)
          this.#end(result.runId, (waiter) => waiter.resolve({ outputs }))
        }
      })
    }
    const left = [...others]
    for (let start = 0; start < left.length; start += READS_MAX) {
      const reads = left.slice(start, start + READS_MAX)
      await Promise.all(reads.map((runId) => this.#apart([runId], () => this.#read(runId))))
    }
  }

  /** A run that cannot be read fails only those who wait for it. */
  #apart(runIds: readonly string[], read: (runIds: readonly string[]) => Promise<void>): Promise<void> {
    return sendApart(runIds, {
      send: read,
      refused: (runId, error) => {
        // What the store may answer later is asked again with the next tick.
        if (!isUnavailable(error)) this.#end(runId, (waiter) => waiter.reject(error))
      },
      heldUp: () => {},
      unanswered: (_, error) => {
        throw error
      },
    })
  }

  async #outputsOf(result: RunResult): Promise<Readonly<Record<string, unknown>>> {
    const { shape } = this.#registry.recordOf(result.definitionId)!
    const mayFail = await this.#registry.mayFail(result.definitionId)
    return outputsOfResult(result, { names: shape.steps.map(({ name }) => name), mayFail })
  }

  /** Of a run that did not complete, what was undone is told, item by item. */
  async #read(runId: string): Promise<void> {
    const reading = { adapter: this.#adapter, registry: this.#registry }
    const seen = await readWholeRun(reading, runId, { outputs: false })
    if (seen === null) return this.#fail(runId)
    if (!isOver(seen.run, seen.steps)) return
    if (seen.run.status !== 'completed') return this.#end(runId, (waiter) => waiter.resolve({ seen }))
    // It completed in between: the next round reads its outputs.
    this.#reported.set(runId, 'completed')
    this.#loop.wake()
  }

  #isLost(runId: string): boolean {
    return this.#seen.has(runId) || (this.#started.has(runId) && this.#history.recent !== undefined)
  }

  #fail(runId: string, isLost = false): void {
    const error = isLost ? lostRun(runId) : unknownRun({ runId })
    this.#end(runId, (waiter) => waiter.reject(error))
  }

  #end(runId: string, tell: (waiter: Waiter) => void): void {
    const waiters = this.#waiters.get(runId) ?? []
    this.#drop(runId)
    for (const waiter of waiters) {
      waiter.stopWaiting()
      tell(waiter)
    }
  }

  #forget(runId: string, waiter: Waiter): void {
    waiter.stopWaiting()
    const others = (this.#waiters.get(runId) ?? []).filter((other) => other !== waiter)
    if (others.length > 0) this.#waiters.set(runId, others)
    else this.#drop(runId)
  }

  /** Nobody waits for the run any more. */
  #drop(runId: string): void {
    this.#waiters.delete(runId)
    this.#seen.delete(runId)
    this.#started.delete(runId)
    this.#news.forget(runId)
    if (this.#waiters.size === 0) this.#news.awaiting(false)
  }
}
