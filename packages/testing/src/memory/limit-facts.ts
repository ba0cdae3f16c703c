import { isTerminal, type LimitEntry } from '@belay/workflow/adapter'
import { OF_RUN, type SlotRow, type WaiterRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** Whose slot an entry of a step takes. */
export function holderOf({ of }: LimitEntry, step: number): number {
  return of === 'run' ? OF_RUN : step
}

/** How many slots each key of a limit has. One that nobody declared has no end. */
export function concurrencyOf(rows: Rows, limit: string): number {
  const row = rows.limits.limits.get(limit)
  return row?.set ?? row?.declared ?? Number.POSITIVE_INFINITY
}

export function freeSlots(rows: Rows, { limit, key }: Pick<LimitEntry, 'limit' | 'key'>): number {
  let taken = 0
  for (const slot of rows.limits.slots.values()) if (slot.limit === limit && slot.key === key) taken += 1
  return concurrencyOf(rows, limit) - taken
}

/** The steps that wait in a line, first come first. */
export function lineOf(rows: Rows, { limit, key }: Pick<LimitEntry, 'limit' | 'key'>): readonly WaiterRow[] {
  return [...rows.limits.waiters.values()]
    .filter((waiter) => waiter.limit === limit && waiter.key === key)
    .sort((one, other) => one.place - other.place)
}

/** Whether a parked step still waits: it has neither been claimed nor cancelled, nor has its run stopped or paused. */
export function stillWaits(rows: Rows, { runId, step: number, fence }: WaiterRow): boolean {
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
  if (run === undefined) return true
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
