import { holdsLease } from '../../adapter/holds-lease.ts'
import type { RunRecord, WorkerRecord } from '../../adapter/index.ts'

/** The sentence that no worker could take a step of this run now, for what else says when a step begins. Empty if one could, though perhaps later. */
export function withoutWorker(found: Parameters<typeof capacity>[0]): string {
  const { reason, because } = capacity(found)
  return reason === 'worker' ? ` ${because[0]!.toUpperCase()}${because.slice(1)}.` : ''
}

/** Whether a worker could take a step of this run's definition now. A worker that does not report its definitions is assumed to have all. */
export function capacity(found: {
  readonly run: Pick<RunRecord, 'workflow' | 'version' | 'definitionId'>
  readonly workers: readonly WorkerRecord[]
  readonly now: number
}): {
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
    const none =
      live.length === 1 ? 'the only live worker has no' : `none of the ${live.length} live workers has`
    return {
      reason: 'worker',
      because: `${none} handlers for ${what}: start one that has`,
    }
  }
  if (able.every(({ slots, busy }) => slots !== null && busy !== null && busy >= slots)) {
    const slots = able.reduce((sum, worker) => sum + worker.slots!, 0)
    return { reason: 'slot', because: `no slot is free on the workers that run ${what}, which have ${slots}` }
  }
  return { reason: 'due', because: 'a worker takes it at its next look' }
}
