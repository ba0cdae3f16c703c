import { summarised, type Violation } from './violation.ts'

/** Looks again and again whether a process has more backends than it was told. Time under a network fault does not count: backends learn late that their client is gone. */
export class BackendWatch {
  readonly #toleratedMs: number
  readonly #overMs = new Map<string, number>()
  readonly #worst = new Map<string, { readonly count: number; readonly told: number }>()

  /** `toleratedMs`: for how long one that was given up may be there beside its successor. */
  constructor(toleratedMs: number) {
    this.#toleratedMs = toleratedMs
  }

  /** One look: the backends of each process, how many it was told, and how long ago the look before was. */
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
        `The process ${process} had ${count} backends for longer than ${this.#toleratedMs} ms; it was told to have ${told} at most.`,
    )
    return summarised('too_many_backends', sentences)
  }
}
