import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import { WORKLOADS, type Workload, type WorkloadName } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const MIB = 1024 ** 2

export const familiesSection: Section = {
  name: 'families',
  about:
    'a run with 1,000 children of 100 steps each, and the same undone, one worker process (not with --quick)',
  async measure(bench, record) {
    // A tenth of one run is none.
    if (bench.quick) return
    await eachRound(bench, async (round) => {
      for (const workload of ['children1000', 'undone1000'] as const) {
        await record.attempt(WORKLOADS[workload].name, () => drainOnce(workload, { bench, record, round }))
      }
    })
  },
}

async function drainOnce(
  workloadName: WorkloadName,
  { bench, record, round }: { bench: Bench; record: Recorder; round: number },
): Promise<void> {
  const { name, what, runs }: Workload = WORKLOADS[workloadName]
  const reference = await bench.reference()
  const { stepsPerSecond, seconds, usages } = await bench.server.freshDatabase((url) =>
    drain({
      ...{ store: { kind: 'postgres', url }, workload: workloadName, runs, startedBy: 'itself' },
      ...{ warmUpRuns: 0, timeoutMs: 600_000 },
    }),
  )
  const peakMiB = usages[0]!.rssMaxBytes / MIB
  record.add(name, { unit: `${what}/s`, value: stepsPerSecond, reference })
  record.add(`${name}: largest resident size of the worker`, { unit: 'MiB', value: peakMiB })
  bench.progress(
    `round ${round}: families: ${name}: ${seconds.toFixed(1)} s, ${Math.round(stepsPerSecond)} ${what}/s, ${Math.round(peakMiB)} MiB`,
  )
}
