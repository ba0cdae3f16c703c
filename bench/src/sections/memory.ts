import { drain } from '../drain.ts'
import { eachRound, type Section } from './section.ts'

const MIB = 1024 ** 2

export const memorySection: Section = {
  name: 'memory',
  about: 'the largest size of a worker process while it drains 200,000 runs (10,000 with --quick)',
  async measure(bench, record) {
    const runs = bench.quick ? 10_000 : 200_000
    await eachRound(bench, async (round) => {
      const reference = await bench.reference()
      const drained = await bench.server.freshDatabase((url) =>
        drain({
          store: { kind: 'postgres', url },
          workload: 'chain',
          runs,
          warmUpRuns: 0,
          timeoutMs: 600_000,
        }),
      )
      const peakMiB = drained.usages[0]!.rssMaxBytes / MIB
      const name = `draining ${runs.toLocaleString('en-US')} runs of a chain of 3`
      record.add(`${name}: largest resident size of the worker`, { unit: 'MiB', value: peakMiB })
      record.add(name, { unit: 'steps/s', value: drained.stepsPerSecond, reference })
      bench.progress(`round ${round}: memory: ${Math.round(peakMiB)} MiB`)
    })
  },
}
