import {
  isTerminal,
  type LimitEntry,
  RATE_HORIZON_MS,
  type RateSpan,
  UNCLAIMED_MS,
} from '@belay/workflow/adapter'
import { instantsUntil } from './instants.ts'
import { lineName, OF_RUN, type SlotRow, type WaiterRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** Whose slot an entry of a step takes. */
export function holderOf({ of }: LimitEntry, step: number): number {
  return of === 'run' ? OF_RUN : step
}

/** How many slots each key of a limit has, and of a rate how many attempts begin in its time. One that nobody declared has no end. */
export function concurrencyOf(rows: Rows, limit: string): number {
  const row = rows.limits.limits.get(limit)
  return row?.set ?? row?.declared ?? Number.POSITIVE_INFINITY
}

/** The time and burst of a rate; null for another limit. */
export function rateOf(rows: Rows, limit: string): RateSpan | null {
  const row = rows.limits.limits.get(limit)
  if (row === undefined) return null
  return row.set === null ? row.declaredRate : row.setRate
}

/** How many steps may be given a place: a free slot, or an instant that comes soon. */
export function roomOf(rows: Rows, line: Pick<LimitEntry, 'limit' | 'key'>): number {
  const rate = rateOf(rows, line.limit)
  if (rate !== null) return instantsUntil(rows, line, rate, rows.now + RATE_HORIZON_MS)
  return isClosed(rows, line) ? 0 : concurrencyOf(rows, line.limit) - takenOf(rows, line)
}

/** How many attempts may enter now. */
export function roomNow(rows: Rows, line: Pick<LimitEntry, 'limit' | 'key'>): number {
  const rate = rateOf(rows, line.limit)
  return rate === null ? roomOf(rows, line) : instantsUntil(rows, line, rate, rows.now)
}

/** Whether the key was pushed back. */
export function isClosed(rows: Rows, line: Pick<LimitEntry, 'limit' | 'key'>): boolean {
  return (rows.limits.keys.get(lineName(line))?.closedUntil ?? rows.now) > rows.now
}

export function takenOf(rows: Rows, { limit, key }: Pick<LimitEntry, 'limit' | 'key'>): number {
  let taken = 0
  for (const slot of rows.limits.slots.values()) if (slot.limit === limit && slot.key === key) taken += 1
  return taken
}

/** The steps that wait in a line, first come first. */
export function lineOf(rows: Rows, { limit, key }: Pick<LimitEntry, 'limit' | 'key'>): readonly WaiterRow[] {
  return [...rows.limits.waiters.values()]
    .filter((waiter) => waiter.limit === limit && waiter.key === key)
    .sort((one, other) => one.place - other.place)
}

/** Whether a parked step still waits: it has neither been claimed nor cancelled, nor has its run stopped or paused. */
export function stillWaits(
  rows: Rows,
  { runId, step: number, fence }: Pick<WaiterRow, 'runId' | 'step' | 'fence'>,
): boolean {
  const run = rows.runs.get(runId)
  const step = run === undefined ? undefined : rowOf(run, number)
  if (run === undefined || step === undefined) return false
  return (
    run.status === 'running' && step.status === 'ready' && step.fence === fence && step.openDependencies === 0
  )
}

/** Whether nobody holds a slot any more. `unclaimedBefore`: a slot that was given before, and that no live worker could take, is free again. */
export function isVoid(rows: Rows, slot: SlotRow, unclaimedBefore: number): boolean {
  const run = rows.runs.get(slot.runId)
  if (run === undefined) return slot.reservedBy?.isOpen !== true
  if (slot.isGiven && slot.since < unclaimedBefore && !hasWorker(rows, slot)) return true
  if (slot.step === OF_RUN) return isTerminal(run.status)
  const step = rowOf(run, slot.step)
  if (step === undefined) return true
  if (!slot.isGiven) return !(step.status === 'running' && step.fence === slot.fence)
  const wantsToBegin = step.status === 'ready' || step.status === 'running'
  return run.status !== 'running' || !wantsToBegin
}

/** Whether a live worker has the definition of the step to which a slot was given. */
export function hasWorker(rows: Rows, { definitionId }: SlotRow): boolean {
  return [...rows.workers.values()].some(
    ({ status, definitionIds }) =>
      status === 'live' && (definitionIds === null || definitionIds.includes(definitionId)),
  )
}

/** Void slots for which nobody waits: whoever does not wait either must not be skipped for them. */
export function dropVoid(rows: Rows, line: Pick<LimitEntry, 'limit' | 'key'>): void {
  for (const [name, slot] of rows.limits.slots) {
    if (lineName(slot) !== lineName(line) || !isVoid(rows, slot, rows.now - UNCLAIMED_MS)) continue
    rows.limits.slots.delete(name)
  }
}
