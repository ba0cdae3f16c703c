import type {
  HeldStepRecord,
  NewWorker,
  Peers,
  Renewal,
  Renewed,
  WorkerRecord,
} from '@belay/workflow/adapter'
import { claimOf, leasedSteps } from './lease.ts'
import type { Rows, WorkerRow } from './rows.ts'
import { nameOf } from './run-rows.ts'

export function registerWorker(rows: Rows, worker: NewWorker): void {
  const { workerId, name, leaseMs, slots = null, host = null, definitionIds = null } = worker
  const known = rows.workers.get(workerId)
  // A dead worker stays dead until its steps are requeued. Until then nothing may be claimed under its id.
  if (known?.status === 'dead') return
  rows.workers.set(workerId, {
    ...{ workerId, name, slots, host, definitionIds },
    status: 'live',
    startedAt: known?.startedAt ?? rows.now,
    renewedAt: rows.now,
    leaseExpiresAt: rows.now + leaseMs,
    busy: known?.busy ?? null,
    known: known?.known ?? null,
  })
}

export function renew(rows: Rows, renewal: Renewal): Renewed | 'lost' {
  const worker = rows.workers.get(renewal.workerId)
  if (worker?.status !== 'live') return 'lost'
  const renewedBefore = worker.renewedAt
  worker.leaseExpiresAt = rows.now + renewal.leaseMs
  worker.renewedAt = rows.now
  worker.busy = renewal.busy ?? worker.busy
  worker.known = renewal.known ?? null
  return { peers: peersOf(rows, worker), renewedAt: rows.now, renewedBefore }
}

function peersOf(rows: Rows, worker: WorkerRow): readonly Peers[] {
  return (worker.definitionIds ?? []).map((definitionId) => {
    const peers = [...rows.workers.values()]
      .filter((other) => other === worker || isIdle(other, definitionId))
      .map(({ workerId }) => workerId)
      .sort()
    return { definitionId, count: peers.length, rank: peers.indexOf(worker.workerId) }
  })
}

function isIdle({ status, definitionIds, slots, busy }: WorkerRow, definitionId: number): boolean {
  const hasSlot = slots === null || (busy ?? 0) < slots
  return status === 'live' && hasSlot && definitionIds?.includes(definitionId) === true
}

export function deregisterWorker(rows: Rows, { workerId }: { workerId: string }): void {
  const worker = rows.workers.get(workerId)
  if (worker?.status !== 'live') return
  // A worker that leaves while it holds steps must not keep them: the next sweep requeues them.
  if (leasedSteps(rows, workerId).length > 0) worker.leaseExpiresAt = Number.NEGATIVE_INFINITY
  else removeWorker(rows, workerId)
}

export function removeWorker(rows: Rows, workerId: string): void {
  rows.workers.delete(workerId)
  rows.trusted.delete(workerId)
}

const WORKERS_MAX = 10_000

export function listWorkers(
  rows: Rows,
  { limit = WORKERS_MAX }: { limit?: number } = {},
): readonly WorkerRecord[] {
  return [...rows.workers.values()]
    .sort((one, other) => one.startedAt - other.startedAt || (one.workerId < other.workerId ? -1 : 1))
    .slice(0, limit)
    .map(({ known: _, ...worker }) => ({
      ...worker,
      leaseExpiresAt: Number.isFinite(worker.leaseExpiresAt) ? worker.leaseExpiresAt : null,
      workflows: workflowsOf(rows, worker),
    }))
}

function workflowsOf(
  rows: Rows,
  { definitionIds }: Pick<WorkerRow, 'definitionIds'>,
): WorkerRecord['workflows'] {
  if (definitionIds === null) return null
  return definitionIds
    .flatMap((id) => rows.definitions.get(id)?.saved ?? [])
    .map(({ name, version }) => ({ name, version }))
    .sort((one, other) =>
      one.name === other.name ? one.version - other.version : one.name < other.name ? -1 : 1,
    )
}

export function listHeld(
  rows: Rows,
  { workerId, limit }: { workerId: string; limit: number },
): readonly HeldStepRecord[] {
  return leasedSteps(rows, workerId)
    .slice(0, limit)
    .map(({ run, step }) => {
      const { version } = run.definition.saved
      const { runId, attempt, direction } = claimOf({ run, step })
      const { startedAt } = step.undo ?? step
      return {
        ...{ runId, workflow: run.workflow, version, step: step.step, name: nameOf(run, step) },
        ...{ attempt, direction, since: startedAt! },
      }
    })
}

export function isLive(rows: Rows, workerId: string): boolean {
  return rows.workers.get(workerId)?.status === 'live'
}
