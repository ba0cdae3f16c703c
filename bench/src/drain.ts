import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type { Workload } from './workloads.ts'

const CONCURRENCY = 1_000

export interface DrainResult {
  readonly startsPerSecond: number
  readonly stepsPerSecond: number
}

/** Starts all runs first, then one worker, and takes the time until the last run has ended. No-op handlers. */
export async function drain(job: {
  readonly url: string
  readonly schema: string
  readonly workload: Workload
  readonly runs: number
}): Promise<DrainResult> {
  const { url, schema, workload, runs } = job
  const adapter = postgres(url, { autoMigrate: true, schema })
  const engine = createEngine({ adapter, workflows: [workload.workflow], concurrency: CONCURRENCY })
  await adapter.open()
  const startsSince = performance.now()
  await engine.runMany(
    workload.workflow,
    Array.from({ length: runs }, () => ({})),
  )
  const startSeconds = (performance.now() - startsSince) / 1_000
  let open = runs
  const drained = new Promise<void>((resolve) => {
    engine.on(workload.ends, () => {
      open -= 1
      if (open === 0) resolve()
    })
  })
  const drainedSince = performance.now()
  await engine.start()
  await drained
  const drainSeconds = (performance.now() - drainedSince) / 1_000
  await engine.close()
  return {
    startsPerSecond: runs / startSeconds,
    stepsPerSecond: (runs * workload.stepsPerRun) / drainSeconds,
  }
}
