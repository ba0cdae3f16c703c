import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import type { WorkloadName } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const MIB = 1024 ** 2

export const memorySection: Section = {
  name: 'memory',
  about:
    'the largest size of a worker process while it drains 200,000 runs, and 20 maps of 10,000 items (with --quick 10,000 and 2)',
  async measure(bench, record) {
    const [runs, maps] = bench.quick ? [10_000, 2] : [200_000, 20]
    await eachRound(bench, async (round) => {
      const chains = {
        workload: 'chain',
        runs,
        name: `${runs.toLocaleString('en-US')} runs of a chain of 3`,
      } as const
      await measureDrain(chains, { bench, record, round })
      const items = { workload: 'map10000', runs: maps, name: `${maps} maps of 10,000 items` } as const
      await measureDrain(items, { bench, record, round })
    })
  },
}

async function measureDrain(
  { workload, runs, name }: { readonly workload: WorkloadName; readonly runs: number; readonly name: string },
  { bench, record, round }: { readonly bench: Bench; readonly record: Recorder; readonly round: number },
): Promise<void> {
  const reference = await bench.reference()
  const drained = await bench.server.freshDatabase((url) =>
    drain({ store: { kind: 'postgres', url }, workload, runs, warmUpRuns: 0, timeoutMs: 600_000 }),
  )
  const peakMiB = drained.usages[0]!.rssMaxBytes / MIB
  record.add(`draining ${name}: largest resident size of the worker`, { unit: 'MiB', value: peakMiB })
  record.add(`draining ${name}`, { unit: 'steps/s', value: drained.stepsPerSecond, reference })
  bench.progress(`round ${round}: memory: ${name}: ${Math.round(peakMiB)} MiB`)
}
