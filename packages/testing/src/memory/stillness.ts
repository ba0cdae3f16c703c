import { type Adapter, type Stillness, UNCLAIMED_MS } from '@belay/workflow/adapter'
import { nextDeadline } from './due.ts'
import { hasWorker } from './limit-facts.ts'
import type { Rows } from './rows.ts'

/** What this store, seen through this adapter, knows of its own future. */
export function stillnessOf(rows: Rows, adapter: Adapter, isOpen: () => boolean): Stillness {
  const { claim, held, renew, sweep, stopping, drain, beginUndo, upcoming, expireRuns, tendLimits } = adapter
  const { findRunEnds, readStatuses, observeRuns, readRun, readValues } = adapter
  // Loops call these over and over: while one of them is replaced, nobody knows what a look would find. Spelled out, because this is asked often.
  const isWhole = () =>
    isOpen() &&
    adapter.claim === claim &&
    adapter.held === held &&
    adapter.renew === renew &&
    adapter.sweep === sweep &&
    adapter.stopping === stopping &&
    adapter.drain === drain &&
    adapter.beginUndo === beginUndo &&
    adapter.upcoming === upcoming &&
    adapter.expireRuns === expireRuns &&
    adapter.tendLimits === tendLimits &&
    adapter.findRunEnds === findRunEnds &&
    adapter.readStatuses === readStatuses &&
    adapter.observeRuns === observeRuns &&
    adapter.readRun === readRun &&
    adapter.readValues === readValues
  return {
    of: adapter,
    get changes() {
      return isWhole() ? rows.changes : Number.NaN
    },
    claimableAt: (definitionIds) => rows.queue.firstAt(definitionIds),
    deadlineAt: () => nextDeadline(rows),
    lapsesAt: () => lapsesAt(rows),
    trust: (workerId, isSure) => {
      rows.trusted.set(workerId, isSure)
    },
  }
}

function lapsesAt(rows: Rows): number {
  let first = Number.POSITIVE_INFINITY
  for (const { workerId, status, leaseExpiresAt } of rows.workers.values()) {
    // A dead worker stays until its last step was swept.
    const at = status === 'dead' ? Number.NEGATIVE_INFINITY : leaseExpiresAt
    if (at < first && rows.trusted.get(workerId)?.() !== true) first = at
  }
  for (const slot of rows.limits.slots.values()) {
    if (slot.isGiven && !hasWorker(rows, slot)) first = Math.min(first, slot.since + UNCLAIMED_MS + 1)
  }
  return first
}
