import type { LimitEntry } from '@belay/workflow/adapter'
import { placeOf } from '@belay/workflow/adapter'
import { takeInstant } from './instants.ts'
import type { StepOfRun } from './lease.ts'
import { holderOf, lineOf, rateOf, roomOf, stillWaits } from './limit-facts.ts'
import { lineName, type SlotRow, slotName, type WaiterRow, waiterName } from './limit-rows.ts'
import type { Rows, RunRow } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** The most steps of a line that one call looks at. */
const LOOKED_AT_MAX = 1_000

export type Line = Pick<LimitEntry, 'limit' | 'key'>

/** Gives free slots of these lines to the steps that wait in them. Returns whether steps were queued. */
export function handOver(rows: Rows, lines: readonly Line[]): boolean {
  let queued = false
  for (const line of [...lines].sort(byLine)) {
    for (const waiter of lineOf(rows, line).slice(0, LOOKED_AT_MAX)) {
      if (roomOf(rows, line) <= 0) break
      // It may have been given its slots together with another step of its run.
      if (rows.limits.waiters.get(waiterName(waiter)) !== waiter) continue
      if (give(rows, waiter)) queued = true
    }
  }
  return queued
}

/** Gives the lines of rates in which these steps wait their next instants. Returns whether steps were queued. */
export function handOverRates(
  rows: Rows,
  steps: readonly { readonly runId: string; readonly step: number }[],
): boolean {
  const lines = new Map<string, Line>()
  for (const step of steps) {
    const waiter = rows.limits.waiters.get(waiterName(step))
    if (waiter !== undefined && rateOf(rows, waiter.limit) !== null) lines.set(lineName(waiter), waiter)
  }
  return handOver(rows, [...lines.values()])
}

/** Gives a parked step all of its slots, and queues it; or moves it to the line of the one that is missing. */
function give(rows: Rows, waiter: WaiterRow): boolean {
  const name = waiterName(waiter)
  if (!stillWaits(rows, waiter)) {
    rows.limits.waiters.delete(name)
    return false
  }
  const run = rows.runs.get(waiter.runId)!
  const held = { run, step: rowOf(run, waiter.step)! }
  const missing = waiter.entries.filter((entry) => slotOf(rows, entry, held) === undefined)
  const full = missing.find((entry) => roomOf(rows, entry) <= 0)
  if (full !== undefined) {
    rows.limits.waiters.set(name, { ...waiter, limit: full.limit, key: full.key })
    return false
  }
  for (const entry of missing) addSlot(rows, entry, held, waiter.place)
  const instants = waiter.entries.map((entry) => dueAt(slotOf(rows, entry, held)))
  rows.limits.waiters.delete(name)
  // Where its run began, ahead by its priority: it has waited for longer than what has come since.
  const began = placeOf(Math.max(run.createdAt, run.startAt ?? run.createdAt), held.step, rows.now)
  rows.queue.enter({
    definitionId: run.definition.saved.id,
    availableAt: Math.max(began, ...instants),
    runId: run.runId,
    step: waiter.step,
  })
  if (missing.some(({ of }) => of === 'run')) giveSiblings(rows, run)
  return true
}

/** The instant that a step was given with a slot; 0 for none. */
function dueAt(slot: SlotRow | undefined): number {
  return slot?.isGiven === true ? (slot.at ?? 0) : 0
}

/** The other steps of a run that waited for the slot which it has now. */
function giveSiblings(rows: Rows, { runId }: RunRow): void {
  const siblings = [...rows.limits.waiters.values()].filter((waiter) => waiter.runId === runId)
  for (const waiter of siblings.sort((one, other) => one.step - other.step)) give(rows, waiter)
}

export function slotOf(rows: Rows, entry: LimitEntry, { run, step }: StepOfRun): SlotRow | undefined {
  return rows.limits.slots.get(slotName(entry, run.runId, holderOf(entry, step.step)))
}

export function addSlot(
  rows: Rows,
  entry: LimitEntry,
  { run, step }: StepOfRun,
  place: number | null = null,
): SlotRow {
  const { limit, key } = entry
  const { runId } = run
  const rate = rateOf(rows, limit)
  const slot: SlotRow = {
    ...{ limit, key, runId, step: holderOf(entry, step.step), since: rows.now },
    fence: entry.of === 'run' ? 0 : step.fence,
    isGiven: true,
    at: rate === null ? null : takeInstant(rows, entry, rate),
    place,
    definitionId: run.definition.saved.id,
  }
  rows.limits.slots.set(slotName(entry, runId, slot.step), slot)
  return slot
}

/** The order of lines. */
export function byLine(one: Line, other: Line): number {
  if (one.limit !== other.limit) return one.limit < other.limit ? -1 : 1
  return one.key === other.key ? 0 : one.key < other.key ? -1 : 1
}
