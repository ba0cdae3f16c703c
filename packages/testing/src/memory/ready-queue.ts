/** A hint that a step may be claimed from `availableAt` on. The step's row decides. */
export interface QueuedStep {
  readonly definitionId: number
  readonly availableAt: number
  readonly runId: string
  readonly step: number
}

/** Steps that may be claimed now or later: longest available first, then by run and step. At most one entry per step. */
export class ReadyQueue {
  readonly #sorted: QueuedStep[] = []
  readonly #byStep = new Map<string, QueuedStep>()

  list(): readonly QueuedStep[] {
    return this.#sorted.map((entry) => ({ ...entry }))
  }

  has(step: { readonly runId: string; readonly step: number }): boolean {
    return this.#byStep.has(nameOf(step))
  }

  /** Adds a step. Replaces an entry that an earlier wait may have left. */
  enter(entry: QueuedStep): void {
    this.remove(entry)
    this.#byStep.set(nameOf(entry), entry)
    this.#sorted.splice(this.#position(entry), 0, entry)
  }

  /** Moves a step forward that is in the queue behind this place. */
  advance({ runId, step, availableAt, definitionId }: QueuedStep): void {
    const entry = this.#byStep.get(nameOf({ runId, step }))
    if (entry === undefined || entry.availableAt <= availableAt) return
    this.enter({ runId, step, availableAt, definitionId })
  }

  remove(step: { readonly runId: string; readonly step: number }): void {
    const entry = this.#byStep.get(nameOf(step))
    if (entry === undefined) return
    this.#byStep.delete(nameOf(step))
    this.#sorted.splice(this.#position(entry), 1)
  }

  /** The next wanted entry of these definitions that is available at `now`. */
  next(
    definitionIds: ReadonlySet<number>,
    now: number,
    isWanted: (entry: QueuedStep) => boolean,
  ): QueuedStep | undefined {
    for (const entry of this.#sorted) {
      if (entry.availableAt > now) return undefined
      if (definitionIds.has(entry.definitionId) && isWanted(entry)) return entry
    }
    return undefined
  }

  /** When the next entry of these definitions becomes available that is not yet available at `now`. */
  nextAfter(definitionIds: ReadonlySet<number>, now: number): number | null {
    const entry = this.#sorted.find((one) => one.availableAt > now && definitionIds.has(one.definitionId))
    return entry?.availableAt ?? null
  }

  /** When the first entry of these definitions, or of any, is or becomes available; `Infinity` for never. */
  firstAt(definitionIds: readonly number[] | undefined): number {
    const entry =
      definitionIds === undefined
        ? this.#sorted[0]
        : this.#sorted.find((one) => definitionIds.includes(one.definitionId))
    return entry?.availableAt ?? Number.POSITIVE_INFINITY
  }

  #position(entry: QueuedStep): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(this.#sorted[middle]!, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function compare(one: QueuedStep, other: QueuedStep): number {
  if (one.availableAt !== other.availableAt) return one.availableAt - other.availableAt
  if (one.runId !== other.runId) return one.runId < other.runId ? -1 : 1
  return one.step - other.step
}

function nameOf(entry: { readonly runId: string; readonly step: number }): string {
  return `${entry.runId}/${entry.step}`
}
