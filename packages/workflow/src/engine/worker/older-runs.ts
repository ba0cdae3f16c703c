import type { Adapter, ChangedRun, LimitEntry, LimitLine, OlderRun } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { SetAside } from '../base/set-aside.ts'

/** The most runs that one look cancels. The next look follows with the others. */
const RUNS_MAX = 1_000

/** Keys of limits; null for all keys of one. */
type Lines = Parameters<Adapter['findOlderRuns']>[0]['lines']

export interface OlderRunsParts {
  readonly adapter: Adapter
  readonly aside: SetAside
  /** The limits of which only the newest runs count. */
  readonly limits: ReadonlySet<string>
  readonly onCancelled: (runs: readonly ChangedRun[]) => void
}

/**
 * Cancels runs that count no more, because newer runs of their key want a slot. It looks as soon as a step of this worker was parked, and with each
 * look at the limits: a process may have died in between.
 */
export class OlderRuns {
  readonly #parts: OlderRunsParts
  /** Keys in whose lines steps were parked since the last look, by their JSON. */
  readonly #parked = new Map<string, LimitLine>()
  #isComplete = true

  constructor(parts: OlderRunsParts) {
    this.#parts = parts
  }

  /** Whether the last look left no run out. */
  get isComplete(): boolean {
    return this.#isComplete && this.#parked.size === 0
  }

  /** Whether its worker has limits of which only the newest runs count. */
  get hasLimits(): boolean {
    return this.#parts.limits.size > 0
  }

  /** Whether steps were parked since the last look. */
  get hasParked(): boolean {
    return this.#parked.size > 0
  }

  /** Notes that the step which asked for these slots was parked. Returns whether there is something to look at. */
  parked(entries: readonly LimitEntry[]): boolean {
    const lines = entries.filter(({ limit, of }) => of === 'run' && this.#parts.limits.has(limit))
    for (const { limit, key } of lines) this.#parked.set(JSON.stringify([limit, key]), { limit, key })
    return lines.length > 0
  }

  /** Looks at the keys for which steps were parked. */
  async lookAtParked(): Promise<void> {
    const lines = [...this.#parked]
    await this.#cancel(lines.map(([, line]) => line))
    for (const [name, line] of lines) if (this.#parked.get(name) === line) this.#parked.delete(name)
  }

  /** Looks at all keys in whose lines steps wait. */
  async lookAtAll(): Promise<void> {
    const lines = [...this.#parts.limits].map((limit) => ({ limit, key: null }))
    this.#isComplete = true
    await this.#cancel(lines)
  }

  async #cancel(lines: Lines): Promise<void> {
    const found = await this.#parts.adapter.findOlderRuns({ lines, limit: RUNS_MAX })
    if (found.length === RUNS_MAX) this.#isComplete = false
    for (const [cause, runIds] of byCause(found)) await this.#cancelRuns(runIds, cause)
  }

  async #cancelRuns(runIds: readonly string[], cause: string): Promise<void> {
    let asked = 0
    await this.#parts.aside.each(runIds, {
      subjectOf: (runId) => ({ during: 'cancelling older runs', runId }),
      work: async (part) => {
        const cancelled = await this.#parts.adapter.cancelRuns({ runIds: part, cause })
        asked += part.length
        if (cancelled.length > 0) this.#parts.onCancelled(cancelled)
      },
    })
    // Somebody holds one of these runs, or the store refuses it: it is left to the next look.
    if (asked < runIds.length) this.#isComplete = false
  }
}

function byCause(runs: readonly OlderRun[]): ReadonlyMap<string, readonly string[]> {
  const causes = new Map<string, string[]>()
  for (const { runId, limit, key, newerRunId } of runs) {
    const cause = JSON.stringify({ type: 'limit_reached', limit, key, newerRunId } satisfies RunCause)
    const known = causes.get(cause)
    if (known === undefined) causes.set(cause, [runId])
    else known.push(runId)
  }
  return causes
}
