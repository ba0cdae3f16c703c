import type { NewCall, NewRun, StartedRun } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { HeldUp } from '../base/held-up.ts'
import { isContended, isUnavailable, isUnreachable, type OutageWatch } from '../base/outage.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'

/** The most runs that one call to the store starts. */
export const STARTS_MAX = 1_000
/** The most concurrent calls. */
const LANES_MAX = 3
/** How often a call without an answer is repeated before the caller gets an error. */
const REPEATS_MAX = 3
/** How long it is repeated: if the store is down, the caller gets an error soon. */
const REPEATED_FOR_MS = 5_000
/** How long a start waits for a key that another open transaction has taken. */
const KEY_WAIT_MS = 10_000

/** The result of one start: the store's answer, or the error. */
export type Start<Started extends StartedRun = StartedRun> =
  | (Started & { readonly refused?: undefined })
  | { readonly refused: true; readonly error: unknown }

export interface RunStarterParts<New extends NewRun = NewRun, Started extends StartedRun = StartedRun> {
  /** One call to the store. */
  readonly store: (runs: readonly New[]) => Promise<readonly Started[]>
  readonly runtime: Runtime
  readonly outage: OutageWatch
  /** The most concurrent calls, 1 to 3; default 3. With 1, what is started first is stored first. */
  readonly lanes?: number | undefined
}

/** One call of {@link RunStarter.startMany}. Resolves when each of its runs was started or refused. */
interface Entry<New extends NewRun, Started extends StartedRun> {
  readonly runs: readonly New[]
  readonly starts: Start<Started>[]
  open: number
  readonly resolve: (starts: readonly Start<Started>[]) => void
}

/** One run of an entry. */
interface Place<New extends NewRun, Started extends StartedRun> {
  readonly entry: Entry<New, Started>
  readonly index: number
}

/**
 * Starts runs in batches that size themselves: a lone start is sent at once; starts during a call form the next batch. A call whose answer was lost
 * is repeated. Run ids are made here, so the store recognises a run that it already has. A start whose key is held by another open transaction
 * waits alone. Calls that are collected are sent in the same way, each with its own id.
 */
export class RunStarter<New extends NewRun = NewRun, Started extends StartedRun = StartedRun> {
  readonly #store: RunStarterParts<New, Started>['store']
  readonly #runtime: Runtime
  readonly #lanesMax: number
  readonly #outage: OutageWatch
  readonly #heldUp: HeldUp<{ readonly place: Place<New, Started>; readonly until: number }>
  readonly #waiting: Entry<New, Started>[] = []
  #lanes = 0
  #scheduled = false

  constructor(parts: RunStarterParts<New, Started>) {
    this.#store = parts.store
    this.#runtime = parts.runtime
    this.#lanesMax = parts.lanes ?? LANES_MAX
    this.#outage = parts.outage
    this.#heldUp = new HeldUp({
      clock: parts.runtime.clock,
      retry: ({ place, until }) => this.#startEach([place], until),
    })
  }

  /** Resolves to the store's answer once the run is stored. */
  async start(run: New): Promise<Started> {
    const [start] = await this.startMany([run])
    if (start!.refused) throw start!.error
    return start!
  }

  /**
   * Starts up to {@link STARTS_MAX} runs in one call to the store. Resolves to their results, in order. A refused run does not affect the others.
   */
  startMany(runs: readonly New[]): Promise<readonly Start<Started>[]> {
    if (runs.length === 0) return Promise.resolve([])
    return new Promise((resolve) => {
      this.#waiting.push({ runs, starts: new Array(runs.length), open: runs.length, resolve })
      this.#schedule()
    })
  }

  /** One microtask later, so that starts of one moment share a call. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      while (this.#lanes < this.#lanesMax && this.#waiting.length > 0) {
        this.#lanes += 1
        void this.#startEach(placesOf(this.#nextBatch())).finally(() => {
          this.#lanes -= 1
          this.#schedule()
        })
      }
    })
  }

  #nextBatch(): readonly Entry<New, Started>[] {
    let runs = 0
    const end = this.#waiting.findIndex((entry, index) => {
      runs += entry.runs.length
      return index > 0 && runs > STARTS_MAX
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  /** Never rejects. `until` is the instant at which a start that is held up gives up. */
  #startEach(places: readonly Place<New, Started>[], until?: number): Promise<void> {
    return sendApart(places, {
      send: async (part) => {
        const started = await this.#startAll(part.map(({ entry, index }) => entry.runs[index]!))
        part.forEach((place, at) => {
          resolvePlace(place, started[at]!)
        })
      },
      // What the store may accept later is tried again, like a call without an answer.
      refused: (place, error) =>
        isUnavailable(error)
          ? this.#wait(place, error, until)
          : resolvePlace(place, { refused: true, error }),
      heldUp: (place, error) => this.#wait(place, error, until),
      unanswered: (part, error) => {
        for (const place of part)
          if (isUnreachable(error)) resolvePlace(place, { refused: true, error })
          else this.#wait(place, error, until)
      },
    })
  }

  /** Only the run whose key is held, or which the store refuses, waits, up to a limit. */
  #wait(place: Place<New, Started>, error: unknown, until?: number): void {
    const now = this.#runtime.clock.now()
    const isHeld = isContended(error)
    const limit = until ?? now + (isHeld ? KEY_WAIT_MS : REPEATED_FOR_MS)
    if (now < limit) this.#heldUp.add({ place, until: limit })
    else resolvePlace(place, { refused: true, error: isHeld ? keyHeld(place, error) : error })
  }

  async #startAll(
    runs: readonly New[],
    repeats = 0,
    beganAt = this.#runtime.clock.now(),
  ): Promise<readonly Started[]> {
    try {
      const started = await this.#store(runs)
      this.#outage.succeeded()
      if (repeats === 0) return started
      // The key belongs to this same run: an earlier call, whose answer was lost, had stored it.
      return started.map((run, index) => (isOwn(run, runs[index]!) ? { ...run, created: true } : run))
    } catch (error) {
      const isOver = repeats >= REPEATS_MAX || this.#runtime.clock.now() - beganAt >= REPEATED_FOR_MS
      if (!isUnreachable(error) || isOver) throw error
      await pause(this.#runtime.clock, this.#outage.failed(error))
      return this.#startAll(runs, repeats + 1, beganAt)
    }
  }
}

function isOwn(started: StartedRun, { runId }: NewRun): boolean {
  return started.runId === runId && started.full === undefined && started.lost === undefined
}

function placesOf<New extends NewRun, Started extends StartedRun>(
  entries: readonly Entry<New, Started>[],
): readonly Place<New, Started>[] {
  return entries.flatMap((entry) => entry.runs.map((_, index) => ({ entry, index })))
}

function resolvePlace<New extends NewRun, Started extends StartedRun>(
  { entry, index }: Place<New, Started>,
  start: Start<Started>,
): void {
  entry.starts[index] = start
  entry.open -= 1
  if (entry.open === 0) entry.resolve(entry.starts)
}

function keyHeld<New extends NewRun>({ entry, index }: Place<New, StartedRun>, cause: unknown): BelayError {
  const { runId, workflow, key, limits, collectKey }: NewRun & Partial<NewCall> = entry.runs[index]!
  if (collectKey !== undefined)
    return new BelayError(
      'store_contended',
      `A call of workflow "${workflow}" with the start key ${shown(collectKey)} was not collected: for ${KEY_WAIT_MS / 1_000} s another transaction has called with this key and has neither committed nor rolled back. Nothing was stored. End that transaction, and call again.`,
      { cause },
    )
  const what =
    key === null
      ? `A run of workflow "${workflow}"`
      : `The run of workflow "${workflow}" with key ${shown(key)}`
  const why =
    limits !== undefined
      ? 'another transaction has started a run under the same limit and key, or with its key, and has neither committed nor rolled back'
      : key === null
        ? 'another transaction has locked Belay’s tables'
        : 'another transaction has started a run with this key and has neither committed nor rolled back'
  return new BelayError(
    'store_contended',
    `${what} was not started: for ${KEY_WAIT_MS / 1_000} s ${why}. Nothing was stored. End that transaction, and start the run again.`,
    { runId, cause },
  )
}
