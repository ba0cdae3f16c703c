import { summarised, type Violation } from './violation.ts'

/**
 * Checks repeatedly whether a process has more backends than it may. Time under a network fault does not count, because a backend then learns late
 * that its client is gone.
 */
export class BackendWatch {
  readonly #toleratedMs: number
  readonly #overMs = new Map<string, number>()
  readonly #worst = new Map<string, { readonly count: number; readonly told: number }>()

  /** `toleratedMs`: how long an abandoned backend may exist beside its successor. */
  constructor(toleratedMs: number) {
    this.#toleratedMs = toleratedMs
  }

  /** One look: the backends of each process, how many it may have, and the time since the last look. */
  look(
    counts: ReadonlyMap<string, number>,
    {
      told,
      isCalm,
      sinceMs,
    }: {
      readonly told: (process: string) => number | undefined
      readonly isCalm: (process: string) => boolean
      readonly sinceMs: number
    },
  ): void {
    for (const [process, count] of counts) {
      const most = told(process)
      if (most === undefined || count <= most || !isCalm(process)) {
        this.#overMs.delete(process)
        continue
      }
      const overMs = (this.#overMs.get(process) ?? 0) + sinceMs
      this.#overMs.set(process, overMs)
      if (overMs > this.#toleratedMs && count > (this.#worst.get(process)?.count ?? 0))
        this.#worst.set(process, { count, told: most })
    }
  }

  get violations(): readonly Violation[] {
    const sentences = [...this.#worst].map(
      ([process, { count, told }]) =>
        `The process ${process} had ${count} backends for longer than ${this.#toleratedMs} ms; its limit is ${told}.`,
    )
    return summarised('too_many_backends', sentences)
  }
}
