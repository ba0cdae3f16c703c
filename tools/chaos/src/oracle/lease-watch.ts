import { summarised, type Violation } from './violation.ts'

/** A step that is leased to a worker whose own lease is good, as the store shows it. */
export interface Lease {
  readonly runId: string
  readonly step: string
  readonly fence: number
  /** The name of the worker's process. */
  readonly worker: string
}

interface Seen {
  readonly lease: Lease
  /** For how long nobody has worked on it, while nothing explained that. */
  idleMs: number
}

/** Looks again and again for steps that a live worker holds and nobody works on. Time under a fault does not count. */
export class LeaseWatch {
  readonly #toleratedMs: number
  #seen = new Map<string, Seen>()
  readonly #found = new Map<string, string>()

  /** `toleratedMs`: for how long a leased step may wait for its turn in its worker. */
  constructor(toleratedMs: number) {
    this.#toleratedMs = toleratedMs
  }

  /**
   * One look: all leases, what each process works on as `run:step`, and how long ago the look before was, in milliseconds.
   * `isCalm` says of a process whether nothing is being done to it, or to all.
   */
  look(
    leases: readonly Lease[],
    {
      worksOn,
      isCalm,
      sinceMs,
    }: {
      readonly worksOn: (worker: string) => ReadonlySet<string>
      readonly isCalm: (worker: string) => boolean
      readonly sinceMs: number
    },
  ): void {
    const next = new Map<string, Seen>()
    for (const lease of leases) {
      const { runId, step, fence, worker } = lease
      const id = `${runId}:${step}:${fence}:${worker}`
      const seen = this.#seen.get(id)
      const idles = !worksOn(worker).has(`${runId}:${step}`)
      const idleMs = idles ? (seen?.idleMs ?? 0) + (seen !== undefined && isCalm(worker) ? sinceMs : 0) : 0
      next.set(id, { lease, idleMs })
      if (idleMs > this.#toleratedMs) this.#found.set(id, this.#sentence({ lease, idleMs }))
    }
    this.#seen = next
  }

  get violations(): readonly Violation[] {
    return summarised('leased_to_nobody', [...this.#found.values()])
  }

  #sentence({ lease: { runId, step, fence, worker }, idleMs }: Seen): string {
    return `Step ${step} of run ${runId} (fence ${fence}) has been leased to the live worker ${worker} for ${Math.round(idleMs)} ms without a fault, and that process doesn't work on it; ${this.#toleratedMs} ms are tolerated.`
  }
}
