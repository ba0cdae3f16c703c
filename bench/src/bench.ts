import { type MeasureLength, measureReference, type Reference } from './reference.ts'
import type { BenchServer } from './server.ts'

/** What every section works with. */
export interface Bench {
  readonly server: BenchServer
  readonly quick: boolean
  readonly rounds: number
  readonly historyRuns: number
  readonly holdMs: number
  readonly waitingRuns: number
  /** All references so far, in the order they were taken. */
  readonly references: readonly Reference[]
  /** Measures the reference now. Taken right before what is to be compared with it: the machine's speed changes. */
  reference(): Promise<number>
  /** One line on standard error, so that long work is seen to go on. */
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
