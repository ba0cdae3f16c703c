import { type MeasureLength, measureReference, type Reference } from './reference.ts'
import type { BenchServer } from './server.ts'

/** What every section gets. */
export interface Bench {
  readonly server: BenchServer
  readonly quick: boolean
  readonly rounds: number
  readonly historyRuns: number
  readonly holdMs: number
  readonly waitingRuns: number
  /** All references so far, in order. */
  readonly references: readonly Reference[]
  /** Measures the reference now. Call it right before the figure to compare, because the machine's speed changes. */
  reference(): Promise<number>
  /** Writes one line to standard error, to show that long work continues. */
  progress(line: string): void
}

export function openBench(
  server: BenchServer,
  given: { quick: boolean; historyRuns: number; holdMs: number; waitingRuns: number },
): Bench {
  const references: Reference[] = []
  const length: MeasureLength = given.quick ? { updatesPerClient: 1_000 } : { seconds: 3 }
  const startedAt = performance.now()
  return {
    ...given,
    server,
    rounds: given.quick ? 1 : 3,
    references,
    async reference() {
      const reference = await measureReference(server.url, length)
      references.push(reference)
      return reference.updatesPerSecond
    },
    progress(line) {
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      console.error(`${String(seconds).padStart(5)} s  ${line}`)
    },
  }
}
