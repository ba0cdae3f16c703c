import { holdsLease } from '../workers.ts'
import type { RunToExplain } from './explain.ts'

/** Whether a worker could take a step of this run's definition now. A worker that never told what it can is trusted. */
export function capacity(found: RunToExplain): {
  readonly reason: 'due' | 'slot' | 'worker'
  readonly because: string
} {
  const { run, workers, now } = found
  const live = workers.filter((worker) => holdsLease(worker, now))
  const able = live.filter(
    ({ definitionIds }) => definitionIds === null || definitionIds.includes(run.definitionId),
  )
  const what = `"${run.workflow}" version ${run.version}`
  if (live.length === 0) return { reason: 'worker', because: 'no worker is live: start one' }
  if (able.length === 0) {
    const count = live.length === 1 ? 'the one live worker' : `any of the ${live.length} live workers`
    return {
      reason: 'worker',
      because: `${what} is not run by ${count}: start one that has its handlers, or move the run with migrateRun()`,
    }
  }
  if (able.every(({ slots, busy }) => slots !== null && busy !== null && busy >= slots)) {
    const slots = able.reduce((sum, worker) => sum + worker.slots!, 0)
    return { reason: 'slot', because: `all ${slots} slots of the workers that run ${what} are taken` }
  }
  return { reason: 'due', because: 'a worker takes it at its next look' }
}
