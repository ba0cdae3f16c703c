import type { Bench } from '../../bench.ts'
import { type Around, type Drained, drain } from '../../drain.ts'
import type { Recorder } from '../section.ts'

/** What the parts of this section share. */
export interface FlatBench {
  readonly bench: Bench
  readonly record: Recorder
  /** Steps per second on empty tables in this round; every condition is compared with it. */
  readonly emptyStepsPerSecond: number
}

// Some seconds of draining, so that a hiccup of the machine does not decide.
const RUNS = 50_000

/** A drain of the chain of 3, the same under every condition. */
export function drainChain(bench: Bench, url: string, around: Around = {}): Promise<Drained> {
  return drain(
    {
      store: { kind: 'postgres', url },
      workload: 'chain',
      runs: bench.quick ? 2_000 : RUNS,
      startedBy: 'itself',
      warmUpRuns: bench.quick ? 0 : 4_000,
    },
    around,
  )
}

/** Measures the reference, drains under a condition, and records the figure and its share of the figure on empty tables. */
export async function drainUnder(
  condition: string,
  given: FlatBench & { url: string; around?: Around },
): Promise<Drained> {
  const { bench, record } = given
  const reference = await bench.reference()
  const drained = await drainChain(bench, given.url, given.around)
  const { stepsPerSecond } = drained
  record.add(`chain of 3, ${condition}`, { unit: 'steps/s', value: stepsPerSecond, reference })
  record.add(`… against empty tables, ${condition}`, {
    unit: '%',
    value: (stepsPerSecond / given.emptyStepsPerSecond) * 100,
  })
  bench.progress(`flat: ${condition}: ${Math.round(stepsPerSecond)} steps/s`)
  return drained
}
