import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import type { Telemetry } from '../worker/telemetry.ts'
import { runsOf, WORKLOADS, type Workload, type WorkloadName } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

interface Case {
  readonly name: string
  readonly workload: WorkloadName
  readonly startedBy: 'itself' | 'another'
  readonly keepsAttempts?: boolean
  readonly isSurrounded?: boolean
  readonly telemetry?: Telemetry
}

const CASES: readonly Case[] = [
  ...(['chain', 'fan50', 'fan1000', 'map10000', 'loop1000', 'saga', 'realistic'] as const).map(
    (workload) => ({
      name: WORKLOADS[workload].name,
      workload,
      startedBy: 'itself' as const,
    }),
  ),
  // The worker must read runs that another process started before it can run them.
  { name: 'chain of 3, started by another process', workload: 'chain', startedBy: 'another' },
  { name: 'chain of 3, attempts kept', workload: 'chain', startedBy: 'itself', keepsAttempts: true },
  { name: 'chain of 3, with one `around`', workload: 'chain', startedBy: 'itself', isSurrounded: true },
  // The SDK looks up the attributes of each duration; for Prometheus all is counted in place.
  { name: 'chain of 3, with metrics', workload: 'chain', startedBy: 'itself', telemetry: 'metrics' },
  { name: 'chain of 3, for Prometheus', workload: 'chain', startedBy: 'itself', telemetry: 'prometheus' },
  { name: 'chain of 3, with traces', workload: 'chain', startedBy: 'itself', telemetry: 'traces' },
]

export const drainSection: Section = {
  name: 'drain',
  about:
    'steps/s of a chain of 3, fans of 50 and 1,000, a map, a loop, a saga, and realistic handlers, one worker process',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      for (const part of CASES) {
        await record.attempt(part.name, () => drainOnce(part, { bench, record, round }))
      }
    })
    record.note(
      'A drain first starts all runs, in the worker’s process unless stated, then the worker. It ends when the last run has ended in the database. Handlers do nothing, with concurrency 1,000, unless stated: “2 ms, 4 KB, 200 at once” awaits 2 ms, returns 4 KB of text that hardly compresses, concurrency 200; before that, a fifth as many runs are drained in another store, so that Node has compiled the code (not with --quick).',
    )
  },
}

async function drainOnce(
  { name, workload: workloadName, keepsAttempts = false, isSurrounded = false, ...given }: Case,
  { bench, record, round }: { bench: Bench; record: Recorder; round: number },
): Promise<void> {
  const workload: Workload = WORKLOADS[workloadName]
  const runs = runsOf(workloadName, bench)
  const warmUpRuns = bench.quick ? 0 : Math.ceil(runs / 5)
  const reference = await bench.reference()
  const { stepsPerSecond, runsPerSecond } = await bench.server.freshDatabase((url) =>
    drain({
      ...{ store: { kind: 'postgres', url }, workload: workloadName, runs },
      ...{ ...given, warmUpRuns, keepsAttempts, isSurrounded },
    }),
  )
  const bar = 'Belay, one worker'
  record.add(name, { unit: `${workload.what}/s`, value: stepsPerSecond, reference, bar })
  if (workload.ends === 'run.compensated') {
    record.add(name, { unit: 'undone runs/s', value: runsPerSecond, reference })
  }
  bench.progress(`round ${round}: ${name}: ${Math.round(stepsPerSecond)} ${workload.what}/s`)
}
