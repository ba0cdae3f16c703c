import { summarised, type Violation } from './violation.ts'

/** A step leased to a worker whose own lease is valid, according to the store. */
export interface Lease {
  readonly runId: string
  readonly step: string
  readonly fence: number
  /** The name of the worker's process. */
  readonly worker: string
}

interface Seen {
  readonly lease: Lease
  /** How long no process has worked on it without an explanation. */
  idleMs: number
}

/** Checks repeatedly for steps that a live worker holds and does not work on. Time under a fault does not count. */
export class LeaseWatch {
  readonly #toleratedMs: number
  #seen = new Map<string, Seen>()
  readonly #found = new Map<string, string>()

  /** `toleratedMs`: how long a leased step may wait for its turn in its worker. */
  constructor(toleratedMs: number) {
    this.#toleratedMs = toleratedMs
  }

  /**
   * One look: all leases, what each process works on as `run:step`, and the milliseconds since the last look. `isCalm` tells whether a process, and
   * the whole system, are free of faults.
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
    return `Step ${step} of run ${runId} (fence ${fence}) has been leased to the live worker ${worker} for ${Math.round(idleMs)} ms without a fault, but that process does not work on it; ${this.#toleratedMs} ms are tolerated.`
  }
}
