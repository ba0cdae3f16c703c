import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import { runsOf, WORKLOADS, type Workload, type WorkloadName } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

export const drainSection: Section = {
  name: 'drain',
  about: 'steps/s of a chain of 3, fans of 50 and 1,000, a saga, and realistic handlers, one worker process',
  async measure(bench, record) {
    const names = Object.keys(WORKLOADS) as WorkloadName[]
    await eachRound(bench, async (round) => {
      for (const name of names) {
        await record.attempt(WORKLOADS[name].name, () => drainOnce(name, { bench, record, round }))
      }
    })
    record.note(
      'A drain starts all runs first, then the worker, and ends when the last run has ended in the database; handlers do nothing, with concurrency 1,000, unless stated: “2 ms, 4 KB, 200 at once” awaits 2 ms, returns 4 KB of text that hardly compresses, concurrency 200; a fifth as many runs are drained before, elsewhere, so that Node has compiled the code (not with --quick).',
    )
  },
}

async function drainOnce(
  name: WorkloadName,
  { bench, record, round }: { bench: Bench; record: Recorder; round: number },
): Promise<void> {
  const workload: Workload = WORKLOADS[name]
  const runs = runsOf(name, bench)
  const warmUpRuns = bench.quick ? 0 : Math.ceil(runs / 5)
  const reference = await bench.reference()
  const { stepsPerSecond, runsPerSecond } = await bench.server.freshDatabase((url) =>
    drain({ store: { kind: 'postgres', url }, workload: name, runs, startedBy: 'itself', warmUpRuns }),
  )
  const bar = 'Belay, one worker'
  record.add(workload.name, { unit: `${workload.what}/s`, value: stepsPerSecond, reference, bar })
  if (workload.ends === 'run.compensated') {
    record.add(workload.name, { unit: 'undone runs/s', value: runsPerSecond, reference })
  }
  bench.progress(`round ${round}: ${workload.name}: ${Math.round(stepsPerSecond)} ${workload.what}/s`)
}
