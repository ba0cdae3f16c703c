import type { LimitEntry } from '@belay/workflow/adapter'
import { placeOf } from '@belay/workflow/adapter'
import type { StepOfRun } from './lease.ts'
import { callsOf, holderOf, lineOf, rateOf, stillWaits } from './limit-facts.ts'
import { lineName, type SlotRow, slotName, type WaiterRow, waiterName } from './limit-rows.ts'
import type { Rows, RunRow } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** The most steps of a line that one call looks at. */
const LOOKED_AT_MAX = 1_000

export type Line = Pick<LimitEntry, 'limit' | 'key'>

/** Calls as many steps of these lines as may begin. Returns whether steps were queued. */
export function callLines(rows: Rows, lines: readonly Line[]): boolean {
  let queued = false
  for (const line of [...lines].sort(byLine)) {
    let calls = callsOf(rows, line)
    for (const waiter of lineOf(rows, line).slice(0, LOOKED_AT_MAX)) {
      if (calls <= 0) break
      if (moves(rows, waiter) || !call(rows, waiter)) continue
      calls -= 1
      queued = true
    }
  }
  return queued
}

/** Calls the other steps of a run that waited for the slots which it has now. */
export function callSiblings(rows: Rows, { runId }: RunRow, entries: readonly LimitEntry[]): boolean {
  const lines = entries.filter(({ of }) => of === 'run').flatMap((entry) => lineOf(rows, entry))
  const siblings = lines.filter((waiter) => waiter.runId === runId)
  let queued = false
  for (const waiter of siblings.sort((one, other) => one.step - other.step))
    if (call(rows, waiter)) queued = true
  return queued
}

/** Moves a parked step to the line of another of its limits, in which nothing is free. Its place stays. */
function moves(rows: Rows, waiter: WaiterRow): boolean {
  const full = waiter.entries.find(
    (entry) =>
      lineName(entry) !== lineName(waiter) &&
      !rows.limits.slots.has(slotName(entry, waiter.runId, holderOf(entry, waiter.step))) &&
      callsOf(rows, entry) <= 0,
  )
  if (full === undefined) return false
  rows.limits.waiters.set(waiterName(waiter), { ...waiter, limit: full.limit, key: full.key })
  return true
}

/** Queues a parked step, because it may begin. One of a paused run keeps its place, and leaves the line. */
function call(rows: Rows, waiter: WaiterRow): boolean {
  const name = waiterName(waiter)
  const run = rows.runs.get(waiter.runId)
  const step = run === undefined ? undefined : rowOf(run, waiter.step)
  const isReady = step?.status === 'ready' && step.fence === waiter.fence
  // In a paused run each step has one more open dependency.
  const isPaused = run?.status === 'paused'
  if (run === undefined || !isReady || !(isPaused || stillWaits(rows, waiter))) {
    rows.limits.waiters.delete(name)
    return false
  }
  rows.limits.waiters.set(name, { ...waiter, calledAt: isPaused ? 0 : rows.now })
  if (isPaused) return false
  // Where its run began, ahead by its priority: it has waited for longer than what has come since.
  rows.queue.enter({
    definitionId: run.definition.saved.id,
    availableAt: placeOf(Math.max(run.createdAt, run.startAt ?? run.createdAt), step, rows.now),
    runId: run.runId,
    step: waiter.step,
  })
  return true
}

export function slotOf(rows: Rows, entry: LimitEntry, { run, step }: StepOfRun): SlotRow | undefined {
  return rows.limits.slots.get(slotName(entry, run.runId, holderOf(entry, step.step)))
}

/** Gives the attempt a slot; of a rate, one with its instant. */
export function putSlot(
  rows: Rows,
  entry: LimitEntry,
  { run, step }: StepOfRun,
  given: Pick<SlotRow, 'isGiven' | 'at' | 'place'>,
): void {
  const { limit, key } = entry
  const { runId } = run
  const holder = holderOf(entry, step.step)
  rows.limits.slots.set(slotName(entry, runId, holder), {
    ...{ limit, key, runId, step: holder, since: rows.now, ...given },
    fence: entry.of === 'run' ? 0 : step.fence,
    asOf: rateOf(rows, limit) === null ? 0 : rows.limits.limits.get(limit)!.since,
    definitionId: run.definition.saved.id,
  })
}

/** The order of lines. */
export function byLine(one: Line, other: Line): number {
  if (one.limit !== other.limit) return one.limit < other.limit ? -1 : 1
  return one.key === other.key ? 0 : one.key < other.key ? -1 : 1
}
