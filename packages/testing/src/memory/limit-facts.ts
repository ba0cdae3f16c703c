import { isTerminal, type LimitEntry, type RateSpan, UNCLAIMED_MS } from '@belay/workflow/adapter'
import { callableInstants } from './instants.ts'
import { lineName, OF_RUN, type SlotRow, type WaiterRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'

type Line = Pick<LimitEntry, 'limit' | 'key'>

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

/** How many slots are free. */
export function roomOf(rows: Rows, line: Line): number {
  return isClosed(rows, line) ? 0 : concurrencyOf(rows, line.limit) - takenOf(rows, line)
}

/** How many more steps may be called: for free slots, or for instants that come soon. */
export function callsOf(rows: Rows, line: Line): number {
  const rate = rateOf(rows, line.limit)
  return (rate === null ? roomOf(rows, line) : callableInstants(rows, line, rate)) - calledOf(rows, line)
}

/** Steps that were called, and have not asked yet. Those that do not come are passed over. */
export function calledOf(rows: Rows, line: Line): number {
  const isCalled = ({ calledAt }: WaiterRow) => calledAt !== null && calledAt > rows.now - UNCLAIMED_MS
  return waitersOf(rows, line).filter(isCalled).length
}

/** Whether the key was pushed back. */
export function isClosed(rows: Rows, line: Line): boolean {
  return (rows.limits.keys.get(lineName(line))?.closedUntil ?? rows.now) > rows.now
}

export function takenOf(rows: Rows, { limit, key }: Line): number {
  let taken = 0
  for (const slot of rows.limits.slots.values()) if (slot.limit === limit && slot.key === key) taken += 1
  return taken
}

/** The steps that wait in a line and were not called, first come first. */
export function lineOf(rows: Rows, line: Line): readonly WaiterRow[] {
  return waitersOf(rows, line)
    .filter(({ calledAt }) => calledAt === null)
    .sort((one, other) => one.place - other.place)
}

/** Whether there are steps that wait, or were called. */
export function isAwaited(rows: Rows, line: Line): boolean {
  return waitersOf(rows, line).length > 0
}

function waitersOf(rows: Rows, { limit, key }: Line): readonly WaiterRow[] {
  return [...rows.limits.waiters.values()].filter((waiter) => waiter.limit === limit && waiter.key === key)
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

/** Whether nobody holds a slot any more. */
export function isVoid(rows: Rows, slot: SlotRow): boolean {
  const run = rows.runs.get(slot.runId)
  if (run === undefined) return slot.reservedBy?.isOpen !== true
  if (slot.step === OF_RUN) return isTerminal(run.status)
  const step = rowOf(run, slot.step)
  if (step === undefined) return true
  if (!slot.isGiven) return !(step.status === 'running' && step.fence === slot.fence)
  const wantsToBegin = step.status === 'ready' || step.status === 'running'
  return (run.status !== 'running' && run.status !== 'paused') || !wantsToBegin
}

/** Void slots for which nobody waits: whoever does not wait either must not be skipped for them. */
export function dropVoid(rows: Rows, line: Line): void {
  for (const [name, slot] of rows.limits.slots) {
    if (lineName(slot) !== lineName(line) || !isVoid(rows, slot)) continue
    rows.limits.slots.delete(name)
  }
}
