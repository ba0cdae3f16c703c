import type { Adapter, ObservedRun } from '../../adapter/index.ts'
import type { Clock } from '../../clock.ts'
import { BelayError } from '../../errors.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { idlingOf, Loop, NOW } from '../base/loop.ts'
import { isUnavailable, type OutageWatch } from '../base/outage.ts'
import { type Runtime, stillnessOf } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'
import type { StoreHistory } from '../base/store-history.ts'
import { readRun, readWholeRun } from './read-run.ts'
import { RunFeed, type SeenRun } from './run-feed.ts'
import { lostRun, unknownRun } from './run-reference.ts'
import { isOver } from './run-snapshot.ts'
import { onStandstill } from './standstill.ts'
import type { AwaitedRun, WorkerLookout } from './worker-lookout.ts'

/** The most runs in one query. */
const ASK_MAX = 500
/** The most runs that are read at once: reading must not take all connections. */
const READS_MAX = 4

export interface RunObserverParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly runtime: Runtime
  readonly tickMs: number
  readonly outage: OutageWatch
  readonly history: Pick<StoreHistory, 'recent'>
  readonly lookout: WorkerLookout
}

interface Observed {
  /** Since when by the engine's clock. */
  readonly since: number
  readonly feeds: Set<RunFeed>
  /** What the newest read run looked like just before it was read. */
  print: ObservedRun | undefined
  seen: SeenRun | undefined
  /** This process has started the run. */
  isStarted: boolean
}

/**
 * Tells watchers how runs change. Once a tick, one query asks for the fingerprints of all observed runs; only those that changed are read, once for
 * all their watchers, and of their items only those that may have changed. What this process knows to have changed is asked for at once. Asks nothing while nobody watches.
 */
export class RunObserver {
  readonly #parts: RunObserverParts
  readonly #loop: Loop
  readonly #runs = new Map<string, Observed>()
  /** Runs to ask for without waiting for the tick. */
  readonly #hinted = new Set<string>()
  #asksAllAt = 0
  #askedAll = false
  #isClosed = false

  constructor(parts: RunObserverParts) {
    this.#parts = parts
    parts.lookout.watch(() => this.#awaited())
    this.#loop = new Loop({
      clock: parts.runtime.clock,
      intervalMs: parts.tickMs,
      work: async () => {
        if (await this.#round()) parts.outage.succeeded()
      },
      onError: (error) => {
        // What this round did not learn, the next one asks for, however soon it comes.
        this.#asksAllAt = 0
        return parts.outage.failed(error)
      },
      mayRest: () => this.#runs.size === 0,
      // A run's shown status changes when its start time comes.
      idling: idlingOf(stillnessOf(parts.adapter, parts.runtime), (still) =>
        this.#askedAll ? still.claimableAt() : NOW,
      ),
    })
  }

  /** The engine's clock, for watchers that wait. */
  get clock(): Clock {
    return this.#parts.runtime.clock
  }

  /** See {@link WorkerLookout.advice}. */
  advice(runId: string): Promise<string> {
    return this.#parts.lookout.advice(runId)
  }

  /** Begins to follow a run. The feed's end must be told with stop(). */
  follow(
    runId: string,
    {
      withItems,
      isStarted = false,
    }: { readonly withItems: boolean; readonly isStarted?: boolean | undefined },
  ): RunFeed {
    let stopWatch = () => {}
    const feed: RunFeed = new RunFeed(runId, withItems, () => {
      stopWatch()
      this.#forget(runId, feed)
    })
    if (this.#isClosed) {
      feed.fail(closedError(runId))
      return feed
    }
    const { adapter, runtime } = this.#parts
    // A watcher that is busy with a change does not wait for time.
    const giveUp = (error: BelayError) => feed.isAwaited && feed.cut(error)
    stopWatch = onStandstill({ adapter, runtime, runId, giveUp })
    const observed = this.#runs.get(runId) ?? {
      since: runtime.clock.now(),
      feeds: new Set(),
      print: undefined,
      seen: undefined,
      isStarted,
    }
    this.#runs.set(runId, observed)
    observed.feeds.add(feed)
    observed.isStarted ||= isStarted
    // What others saw may be a tick old, but the feed begins with the present state.
    observed.print = undefined
    this.#hint(runId)
    this.#parts.lookout.awaited()
    return feed
  }

  /** This process has changed the run. */
  changed(runId: string): void {
    if (this.#runs.has(runId)) this.#hint(runId)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const runId of [...this.#runs.keys()]) this.#fail(runId, closedError(runId))
    await this.#loop.stop()
  }

  *#awaited(): Generator<AwaitedRun> {
    for (const [runId, { since }] of this.#runs) yield { runId, since }
  }

  #hint(runId: string): void {
    this.#hinted.add(runId)
    this.#loop.wake()
  }

  /** Whether it asked the store anything. */
  async #round(): Promise<boolean> {
    const now = this.#parts.runtime.clock.now()
    const isDue = now >= this.#asksAllAt
    this.#askedAll = isDue
    if (isDue) this.#asksAllAt = now + this.#parts.tickMs
    const asked = [...(isDue ? this.#runs.keys() : this.#hinted)]
    this.#hinted.clear()
    const failures: unknown[] = []
    for (let start = 0; start < asked.length; start += ASK_MAX) {
      failures.push(...(await this.#ask(asked.slice(start, start + ASK_MAX))))
    }
    // All others have been told.
    if (failures.length > 0) throw failures[0]
    return asked.length > 0
  }

  /** Resolves to the errors about runs that the store refuses to show. Rejects if it cannot be reached. */
  async #ask(runIds: readonly string[]): Promise<readonly unknown[]> {
    const prints = new Map<string, ObservedRun>()
    const asked: string[] = []
    const failures: unknown[] = []
    const refused = (_: string, error: unknown) => void failures.push(error)
    await sendApart(runIds, {
      send: async (part) => {
        for (const print of await this.#parts.adapter.observeRuns(part)) prints.set(print.runId, print)
        asked.push(...part)
      },
      refused,
      heldUp: refused,
      unanswered: (_, error) => {
        throw error
      },
    })
    const changed = asked.filter((runId) => hasChanged(this.#runs.get(runId), prints.get(runId)))
    for (let start = 0; start < changed.length; start += READS_MAX) {
      const reads = changed.slice(start, start + READS_MAX)
      const ends = await Promise.allSettled(reads.map((runId) => this.#read(runId, prints.get(runId))))
      for (const end of ends) if (end.status === 'rejected') failures.push(end.reason)
      if (failures.some(isUnavailable)) return failures
    }
    return failures
  }

  /** Reads what has changed of a run: the run with its steps, or only its values. */
  async #read(runId: string, print: ObservedRun | undefined): Promise<void> {
    const observed = this.#runs.get(runId)
    // Its last watcher has left meanwhile.
    if (observed === undefined) return
    const seen = print === undefined ? null : await this.#seen(observed, print)
    if (seen === null)
      return this.#fail(runId, this.#isLost(observed) ? lostRun(runId) : unknownRun({ runId }))
    observed.seen = seen
    const served = [...observed.feeds].filter(({ withItems }) => seen.items !== undefined || !withItems)
    // A feed that wants items may have come during the reading. It has hinted at the run, which is read again.
    observed.print = served.length === observed.feeds.size ? print : undefined
    for (const feed of served) feed.see(seen)
  }

  /** Not if it may have ended and been deleted. */
  #isLost({ seen, isStarted }: Observed): boolean {
    if (seen !== undefined) return !isOver(seen.run, seen.steps)
    return isStarted && this.#parts.history.recent !== undefined
  }

  async #seen(observed: Observed, print: ObservedRun): Promise<SeenRun | null> {
    const { print: before, seen } = observed
    const { adapter } = this.#parts
    const isOfValues = before !== undefined && before.status === print.status && before.steps === print.steps
    if (seen === undefined || !isOfValues) {
      if (![...observed.feeds].some(({ withItems }) => withItems)) return readRun(this.#parts, print.runId)
      return readWholeRun(this.#parts, print.runId, { outputs: true, before: seen?.items })
    }
    const values = await adapter.readValues(print.runId)
    return values === null ? null : { ...seen, values }
  }

  #fail(runId: string, error: BelayError): void {
    const observed = this.#runs.get(runId)
    this.#runs.delete(runId)
    for (const feed of observed?.feeds ?? []) feed.fail(error)
  }

  #forget(runId: string, feed: RunFeed): void {
    const observed = this.#runs.get(runId)
    observed?.feeds.delete(feed)
    if (observed?.feeds.size === 0) this.#runs.delete(runId)
  }
}

function hasChanged(observed: Observed | undefined, now: ObservedRun | undefined): boolean {
  const before = observed?.print
  if (before === undefined || now === undefined) return true
  return before.status !== now.status || before.steps !== now.steps || before.values !== now.values
}

function closedError(runId: string): BelayError {
  return new BelayError(
    'engine_closed',
    `The engine was closed while run ${runId} was watched. The run goes on.`,
    { runId, remedy: 'To watch it again, use engine.runs.handle(id) on another engine.' },
  )
}
