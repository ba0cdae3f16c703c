import type { LimitEntry, RateSpan } from '@belay/workflow/adapter'

/** The number under which a run holds its own slots. */
export const OF_RUN = -1

export interface LimitRow {
  readonly name: string
  declared: number | null
  set: number | null
  declaredRate: RateSpan | null
  setRate: RateSpan | null
  /** When its numbers last changed; each change is later than the one before. */
  since: number
}

/** What is kept of a key besides its slots. */
export interface KeyRow {
  /** Of a rate: when its next attempt would begin if it had no burst. It grows by one interval with each instant that is given. */
  nextAt: number
  /** The `since` of the rate when `nextAt` was written. */
  asOf: number
  /** Nobody enters before. */
  closedUntil: number
}

/** A slot that is taken by an attempt, or an instant for which it waits. */
export interface SlotRow {
  readonly limit: string
  readonly key: string
  readonly runId: string
  /** The step's number, or {@link OF_RUN}. */
  readonly step: number
  /** That of the attempt. 0 for a run. */
  fence: number
  /** The attempt waits for its instant, and has not entered yet. */
  isGiven: boolean
  /** Of a rate: the instant at which the attempt begins, or began. */
  at: number | null
  /** The `since` of the rate when the instant was given. */
  asOf: number
  /** The place that its step had in the line; null for one that did not wait. */
  place: number | null
  readonly definitionId: number
  since: number
  /** The open transaction that starts its run. */
  readonly reservedBy?: { readonly isOpen: boolean } | undefined
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
  /** When it was called; 0 while its run is paused, null as long as it stands in line. */
  readonly calledAt: number | null
  readonly entries: readonly LimitEntry[]
}

/** All that a store knows of limits. */
export class LimitRows {
  readonly limits = new Map<string, LimitRow>()
  /** By {@link lineName}. */
  readonly keys = new Map<string, KeyRow>()
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

export function lineName({ limit, key }: Pick<LimitEntry, 'limit' | 'key'>): string {
  return JSON.stringify([limit, key])
}

export function slotName(entry: Pick<LimitEntry, 'limit' | 'key'>, runId: string, step: number): string {
  return JSON.stringify([entry.limit, entry.key, runId, step])
}

export function waiterName(step: { readonly runId: string; readonly step: number }): string {
  return `${step.runId}/${step.step}`
}
