import { type Claim, type Claimed, PRIORITY_MAX } from '@belay/workflow/adapter'
import { claimOf, isClaimable, lease, leasedSteps, readyAt } from './lease.ts'
import type { QueuedStep } from './ready-queue.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { isLive } from './workers.ts'

const MINUTE_MS = 60_000

export function claim(
  rows: Rows,
  request: { workerId: string; definitionIds: readonly number[]; limit: number; undosOnly?: boolean },
): Claimed | 'lost' {
  const { workerId, limit, undosOnly = false } = request
  if (!isLive(rows, workerId)) return 'lost'
  const definitionIds = new Set(request.definitionIds)
  const claims: Claim[] = []
  const isWanted = (entry: QueuedStep) => !undosOnly || isPlacedUndo(rows, entry)
  while (claims.length < limit) {
    const entry = rows.queue.next(definitionIds, rows.now, isWanted)
    if (entry === undefined) break
    rows.queue.remove(entry)
    const run = rows.runs.get(entry.runId)!
    const step = rowOf(run, entry.step)
    // A queue entry is only a hint: if its run was stopped meanwhile, or its row is gone, the entry is dropped.
    if (step === undefined) continue
    const candidate = { run, step }
    if (!isClaimable(candidate)) continue
    const waitedMs = Math.round(Math.max(0, rows.now - readyAt(step, entry.availableAt)))
    claims.push({ ...lease(rows, candidate, workerId), waitedMs })
  }
  return { claims, more: claims.length === limit }
}

/** An undo before its place, because it was due later, is left: only the head of the queue is looked at. */
function isPlacedUndo(rows: Rows, { runId, step, availableAt }: QueuedStep): boolean {
  const run = rows.runs.get(runId)
  const isAhead = availableAt <= rows.now - 2 * PRIORITY_MAX * MINUTE_MS
  return isAhead && run !== undefined && rowOf(run, step)?.status === 'compensating'
}

export function held(rows: Rows, { workerId }: { workerId: string }): readonly Claim[] {
  return leasedSteps(rows, workerId).map(claimOf)
}
