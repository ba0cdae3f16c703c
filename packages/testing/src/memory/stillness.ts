import { type Adapter, type Stillness, UNCLAIMED_MS } from '@belay/workflow/adapter'
import { nextDeadline } from './due.ts'
import { nextCall } from './instants.ts'
import { calledOf, callsOf, rateOf } from './limit-facts.ts'
import { lineName } from './limit-rows.ts'
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
  return Math.min(first, nextLook(rows))
}

/** When a look at the limits finds a step to call, or to pass over. */
function nextLook(rows: Rows): number {
  let first = Number.POSITIVE_INFINITY
  const lines = new Set<string>()
  for (const waiter of rows.limits.waiters.values()) {
    if (waiter.calledAt !== null || lines.has(lineName(waiter))) continue
    lines.add(lineName(waiter))
    if (callsOf(rows, waiter) > 0) return rows.now
    const called = calledOf(rows, waiter)
    if (called > 0) first = Math.min(first, rows.now + UNCLAIMED_MS / 2)
    const from = nextCall(rows, waiter, rateOf(rows, waiter.limit), called)
    // A key that was pushed back and is open again waits for slots: whoever frees one calls.
    if (from > rows.now || rateOf(rows, waiter.limit) !== null) first = Math.min(first, from)
  }
  return first
}
