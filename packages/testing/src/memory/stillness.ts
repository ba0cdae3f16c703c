import { type Adapter, type Stillness, UNCLAIMED_MS } from '@belay/workflow/adapter'
import { nextDeadline } from './due.ts'
import { roomFrom } from './instants.ts'
import { hasWorker, rateOf } from './limit-facts.ts'
import type { Rows } from './rows.ts'
import { nextSchedule } from './schedules.ts'

/** What this store, seen through this adapter, knows of its own future. */
export function stillnessOf(rows: Rows, adapter: Adapter, isOpen: () => boolean): Stillness {
  const { claim, held, renew, sweep, stopping, drain, beginUndo, upcoming, expireRuns } = adapter
  const { readSchedules, changeSchedules, findOlderRuns, tendLimits } = adapter
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
    adapter.readSchedules === readSchedules &&
    adapter.changeSchedules === changeSchedules &&
    adapter.findOlderRuns === findOlderRuns &&
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
    scheduleAt: () => nextSchedule(rows),
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
  for (const { availableAt } of rows.lateSteps) first = Math.min(first, availableAt)
  for (const slot of rows.limits.slots.values()) {
    if (slot.isGiven && !hasWorker(rows, slot)) first = Math.min(first, slot.since + UNCLAIMED_MS + 1)
  }
  for (const waiter of rows.limits.waiters.values()) {
    const from = roomFrom(rows, waiter, rateOf(rows, waiter.limit))
    // A key that was pushed back and is open again waits for slots, which are handed over when they are freed.
    if (from > rows.now || rateOf(rows, waiter.limit) !== null) first = Math.min(first, from)
  }
  return first
}
