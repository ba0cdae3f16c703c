import type { Claim, Claimed } from '@belay/workflow/adapter'
import { claimOf, isClaimable, lease, leasedSteps } from './lease.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { isLive } from './workers.ts'

export function claim(
  rows: Rows,
  request: { workerId: string; definitionIds: readonly number[]; limit: number },
): Claimed | 'lost' {
  const { workerId, limit } = request
  if (!isLive(rows, workerId)) return 'lost'
  const definitionIds = new Set(request.definitionIds)
  const claims: Claim[] = []
  while (claims.length < limit) {
    const entry = rows.queue.next(definitionIds, rows.now)
    if (entry === undefined) break
    rows.queue.remove(entry)
    const run = rows.runs.get(entry.runId)!
    const candidate = { run, step: rowOf(run, entry.step)! }
    // A queue entry is only a hint: if its run was stopped meanwhile, the entry is dropped.
    if (isClaimable(candidate)) claims.push(lease(rows, candidate, workerId))
  }
  return { claims, more: claims.length === limit }
}

export function held(rows: Rows, { workerId }: { workerId: string }): readonly Claim[] {
  return leasedSteps(rows, workerId).map(claimOf)
}
