import { isTerminal, type LimitEntry } from '@belay/workflow/adapter'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** The number under which a run holds its own slots. */
export const OF_RUN = -1

export interface LimitRow {
  readonly name: string
  declared: number | null
  set: number | null
}

/** A slot that is taken: by an attempt, or given to a step that will be claimed. */
export interface SlotRow {
  readonly limit: string
  readonly key: string
  readonly runId: string
  /** The step's number, or {@link OF_RUN}. */
  readonly step: number
  /** That of the attempt, or of the parked step to which it was given. 0 for a run. */
  fence: number
  /** It was given to a step that has not entered yet. */
  isGiven: boolean
  readonly definitionId: number
  since: number
}

/** A parked step. It stands in one line: that of the first of its limits that had no slot. */
export interface WaiterRow {
  readonly runId: string
  readonly step: number
  readonly fence: number
  /** Its line. */
  readonly limit: string
  readonly key: string
  /** Grows with each step that is parked for the first time. */
  readonly place: number
  readonly since: number
  readonly entries: readonly LimitEntry[]
}

/** All that a store knows of limits. */
export class LimitRows {
  readonly limits = new Map<string, LimitRow>()
  readonly slots = new Map<string, SlotRow>()
  readonly waiters = new Map<string, WaiterRow>()
  #places = 0

  nextPlace(): number {
    this.#places += 1
    return this.#places
  }

  /** Removes all that belongs to a run. */
  removeRun(runId: string): void {
    this.removeSteps(runId)
    for (const [name, row] of this.slots) if (row.runId === runId) this.slots.delete(name)
  }

  /** Removes what belongs to the steps of a run, whose numbers change. */
  removeSteps(runId: string): void {
    for (const [name, row] of this.slots)
      if (row.runId === runId && row.step !== OF_RUN) this.slots.delete(name)
    for (const [name, row] of this.waiters) if (row.runId === runId) this.waiters.delete(name)
  }
}

export function slotName(entry: Pick<LimitEntry, 'limit' | 'key'>, runId: string, step: number): string {
  return JSON.stringify([entry.limit, entry.key, runId, step])
}

export function waiterName(step: { readonly runId: string; readonly step: number }): string {
  return `${step.runId}/${step.step}`
}

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
