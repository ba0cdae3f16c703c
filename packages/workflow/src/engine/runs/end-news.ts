import { type Adapter, isTerminal, type RunStatus } from '../../adapter/index.ts'
import type { Clock, Timer } from '../../clock.ts'

/** The most runs that a worker remembers to be awaited elsewhere. Of more, the first ones are forgotten: who awaits them asks once a tick. */
const AWAITED_MAX = 10_000
/** How long to keep listening after the last wait, in milliseconds: the next one often follows. */
const LINGER_MS = 5_000
/** How often the workers are told again of a run that is still awaited, in milliseconds: a worker may have come meanwhile. */
const ANNOUNCE_EVERY_MS = 15_000

export interface EndNewsParts {
  readonly adapter: Pick<Adapter, 'onNews' | 'tell'>
  readonly clock: Clock
  /** Another process says that these runs have ended. */
  readonly onEnded: (runIds: readonly string[]) => void
}

/**
 * Tells the processes that await runs when these end. Who awaits a run says so; workers remember it, and tell the end. Runs that nobody awaits cost a
 * look into an empty set. All of it is a hint: whatever is lost, the next tick finds.
 */
export class EndNews {
  readonly #parts: EndNewsParts
  /** Runs that other processes await. */
  readonly #awaited = new Set<string>()
  /** When the workers were last told that this process awaits these runs. */
  readonly #announcedAt = new Map<string, number>()
  #isWorking = false
  #isAwaiting = false
  #stop: (() => void) | undefined
  #lingering: Timer | undefined

  constructor(parts: EndNewsParts) {
    this.#parts = parts
  }

  /** This process has a worker: it sees most ends that it awaits by itself. */
  get isWorking(): boolean {
    return this.#isWorking
  }

  work(isWorking: boolean): void {
    this.#isWorking = isWorking
    if (!isWorking) this.#awaited.clear()
    this.#listen()
  }

  /** Somebody in this process awaits runs, or nobody does any more. */
  awaiting(isAwaiting: boolean): void {
    if (isAwaiting === this.#isAwaiting || this.#parts.adapter.tell === undefined) return
    this.#isAwaiting = isAwaiting
    this.#lingering?.cancel()
    if (isAwaiting) this.#listen()
    else this.#lingering = this.#parts.clock.after(LINGER_MS, () => this.#listen())
  }

  /** Tells the workers that this process awaits these runs, unless it has told them of late. */
  announce(awaited: readonly string[]): void {
    const now = this.#parts.clock.now()
    const runIds = awaited.filter(
      (runId) => now - (this.#announcedAt.get(runId) ?? -Infinity) >= ANNOUNCE_EVERY_MS,
    )
    for (const runId of runIds) this.#announcedAt.set(runId, now)
    if (runIds.length > 0) this.#parts.adapter.tell?.({ type: 'awaited', runIds })
  }

  /** This process does not await the run any more. */
  forget(runId: string): void {
    this.#announcedAt.delete(runId)
  }

  /** This process has seen these statuses. */
  changed(runs: readonly { readonly runId: string; readonly status: RunStatus }[]): void {
    if (this.#awaited.size === 0) return
    const ended = runs.filter(({ runId, status }) => isEnd(status) && this.#awaited.delete(runId))
    if (ended.length > 0)
      this.#parts.adapter.tell?.({ type: 'ended', runIds: ended.map(({ runId }) => runId) })
  }

  close(): void {
    this.#isWorking = false
    this.#isAwaiting = false
    this.#lingering?.cancel()
    this.#listen()
  }

  #listen(): void {
    const isWanted = this.#isWorking || this.#isAwaiting
    if (isWanted) {
      this.#stop ??= this.#parts.adapter.onNews?.(({ type, runIds }) => {
        if (type === 'ended') this.#parts.onEnded(runIds)
        else if (this.#isWorking) this.#remember(runIds)
      })
      return
    }
    this.#stop?.()
    this.#stop = undefined
  }

  #remember(runIds: readonly string[]): void {
    for (const runId of runIds) this.#awaited.add(runId)
    for (const runId of this.#awaited) {
      if (this.#awaited.size <= AWAITED_MAX) return
      this.#awaited.delete(runId)
    }
  }
}

function isEnd(status: RunStatus): boolean {
  return isTerminal(status) || status === 'compensation_failed'
}
