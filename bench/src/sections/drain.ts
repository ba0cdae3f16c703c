import { drain } from '../drain.ts'
import { runsOf, WORKLOADS, type Workload, type WorkloadName } from '../workloads.ts'
import { eachRound, type Section } from './section.ts'

export const drainSection: Section = {
  name: 'drain',
  about: 'steps/s of a chain of 3, fans of 50 and 1,000, a saga, and realistic handlers, one worker process',
  async measure(bench, record) {
    const workloads = Object.entries(WORKLOADS) as [WorkloadName, Workload][]
    await eachRound(bench, async (round) => {
      for (const [name, workload] of workloads) {
        const runs = runsOf(name, bench)
        const reference = await bench.reference()
        const drained = await bench.server.freshDatabase((url) =>
          drain({
            store: { kind: 'postgres', url },
            workload: name,
            runs,
            startedBy: 'itself',
            warmUpRuns: bench.quick ? 0 : Math.ceil(runs / 5),
          }),
        )
        const { stepsPerSecond, runsPerSecond } = drained
        const bar = 'Belay, one worker'
        record.add(workload.name, { unit: `${workload.what}/s`, value: stepsPerSecond, reference, bar })
        if (workload.ends === 'run.compensated') {
          record.add(workload.name, { unit: 'undone runs/s', value: runsPerSecond, reference })
        }
        bench.progress(`round ${round}: ${workload.name}: ${Math.round(stepsPerSecond)} ${workload.what}/s`)
      }
    })
    record.note(
      'A drain starts all runs first, then the worker, and ends when the last run has ended in the database; handlers do nothing unless stated; concurrency 1,000 unless stated; a fifth as many runs are drained before, elsewhere, so that Node has compiled the code (not with --quick).',
    )
  },
}
