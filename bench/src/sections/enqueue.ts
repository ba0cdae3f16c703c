import { withWorker } from '../worker/with-worker.ts'
import type { WorkerProcess } from '../worker/worker-process.ts'
import { eachRound, type Section } from './section.ts'

const WAYS = [
  { by: 'bulk', name: 'starting runs of a chain of 3 by `runMany()`', runs: 40_000 },
  { by: 'single', name: 'starting runs of a chain of 3 by `run()`, 200 calls at once', runs: 10_000 },
] as const

export const enqueueSection: Section = {
  name: 'enqueue',
  about: 'runs started per second, in bulk and by concurrent single calls, without workers',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      for (const way of WAYS) {
        const count = bench.quick ? way.runs / 10 : way.runs
        const start = async (worker: WorkerProcess) => {
          if (!bench.quick) await worker.tell('startRuns', { count: count / 10, by: way.by })
          return worker.tell('startRuns', { count, by: way.by })
        }
        const reference = await bench.reference()
        const { seconds } = await bench.server.freshDatabase((url) =>
          withWorker({ store: { kind: 'postgres', url }, workload: 'chain', warmUpRuns: 0 }, start),
        )
        record.add(way.name, { unit: 'runs/s', value: count / seconds, reference })
        bench.progress(`round ${round}: ${way.name}: ${Math.round(count / seconds)} runs/s`)
      }
    })
  },
}
