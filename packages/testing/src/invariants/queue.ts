import { type RunRecord, type StepRecord, storedStatus } from '@belay/workflow/adapter'
import type { Dump } from './dump.ts'

type Report = (
  invariant: string,
  message: string,
  at: { readonly runId: string; readonly step: number },
) => void

/** Invariants of steps, queue and workers, in stores that show queue and workers. */
export function queueFacts(dump: Dump, report: Report): void {
  const queued = countEntries(dump, report)
  const parked = new Set(dump.limits?.waiters.map((waiter) => `${nameOf(waiter)}/${waiter.fence}`))
  const workers = new Set(dump.workers?.map(({ workerId }) => workerId))
  for (const { run, steps } of dump.runs) {
    for (const step of steps) {
      const at = { runId: run.runId, step: step.step }
      if (
        dump.queue !== undefined &&
        isClaimable(run, step) &&
        !queued.has(nameOf(at)) &&
        !parked.has(`${nameOf(at)}/${step.fence}`)
      ) {
        report('claimable_step_is_queued', `${step.status}, but no claim would find it.`, at)
      }
      if (dump.workers !== undefined && isLeased(step) && !workers.has(step.workerId!)) {
        report('leased_step_has_a_known_worker', `${step.workerId} is not registered.`, at)
      }
    }
  }
}

function countEntries(dump: Dump, report: Report): ReadonlySet<string> {
  const queued = new Set<string>()
  for (const { runId, step } of dump.queue ?? []) {
    if (queued.has(nameOf({ runId, step }))) report('queued_once', 'queued twice.', { runId, step })
    queued.add(nameOf({ runId, step }))
  }
  return queued
}

function isClaimable(run: RunRecord, step: StepRecord): boolean {
  const forward = storedStatus(run.status) === 'running'
  if (step.status === 'ready') return forward
  if (step.status === 'waiting') return forward && step.availableAt !== null
  if (run.status === 'paused') return false
  return step.status === 'compensating' && step.workerId === null && step.openDependencies === 0
}

function isLeased({ status, workerId }: StepRecord): boolean {
  return workerId !== null && (status === 'running' || status === 'compensating')
}

function nameOf({ runId, step }: { readonly runId: string; readonly step: number }): string {
  return `${runId}/${step}`
}
