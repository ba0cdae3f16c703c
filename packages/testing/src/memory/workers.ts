import { leasedSteps } from './lease.ts'
import type { Rows } from './rows.ts'

export function registerWorker(
  rows: Rows,
  worker: { workerId: string; name: string; leaseMs: number },
): void {
  const { workerId, name, leaseMs } = worker
  // A dead worker stays dead until its steps are given back: it must not claim under the same id meanwhile.
  if (rows.workers.get(workerId)?.status === 'dead') return
  rows.workers.set(workerId, { workerId, name, status: 'live', leaseExpiresAt: rows.now + leaseMs })
}

export function renew(rows: Rows, renewal: { workerId: string; leaseMs: number }): 'held' | 'lost' {
  const worker = rows.workers.get(renewal.workerId)
  if (worker?.status !== 'live') return 'lost'
  worker.leaseExpiresAt = rows.now + renewal.leaseMs
  return 'held'
}

export function deregisterWorker(rows: Rows, { workerId }: { workerId: string }): void {
  const worker = rows.workers.get(workerId)
  if (worker?.status !== 'live') return
  // A worker that leaves while it holds steps must not take them with it: the next sweep gives them back.
  if (leasedSteps(rows, workerId).length > 0) worker.leaseExpiresAt = Number.NEGATIVE_INFINITY
  else rows.workers.delete(workerId)
}

export function isLive(rows: Rows, workerId: string): boolean {
  return rows.workers.get(workerId)?.status === 'live'
}
