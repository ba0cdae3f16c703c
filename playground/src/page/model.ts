import type { ListedRun, Look, Problem, Statement } from '../messages.ts'
import type { Balance, Entry, Service } from './balance.ts'

/** All that the screen shows. */
export interface State {
  readonly phase: 'opening' | 'playing' | 'stopped'
  /** While it opens: how far, 0 to 1, and what it does. */
  readonly progress: { readonly part: number; readonly what: string }
  /** What is wrong in the reader's code. */
  readonly problem?: Problem | undefined
  /** Why the page itself cannot go on. */
  readonly failure?: Problem | undefined
  readonly workers: readonly WorkerState[]
  /** Of workers, by the id under which the engine knows them. */
  readonly names: Readonly<Record<string, string>>
  /** The newest first. */
  readonly runs: readonly ListedRun[]
  readonly selected?: string | undefined
  readonly look?: Look | undefined
  /** Of the selected run, as they stand in the database. */
  readonly rows: readonly Row[]
  /** The newest first. */
  readonly ledger: readonly Entry[]
  readonly services: readonly Service[]
  readonly balance?: Balance | undefined
  /** The newest statement that leased steps. */
  readonly statement?: Statement | undefined
  /** What happened, the newest last. */
  readonly story: readonly Line[]
  /** Until when the database is cut off, by the page's clock. */
  readonly cutUntil?: number | undefined
}

export interface WorkerState {
  readonly name: string
  readonly state: 'opening' | 'live' | 'frozen' | 'crashed'
  /** Since when it is in this state, by the page's clock. */
  readonly since: number
  /** The steps that it executes, or executed when it crashed: `order:1 chargeCard`. */
  readonly steps: readonly Held[]
}

export interface Held {
  readonly runId: string
  readonly step: string
  readonly direction: 'forward' | 'undo'
}

export interface Row {
  readonly step: string
  readonly status: string
  readonly fence: number
  readonly attempts: number
  readonly worker: string
}

export interface Line {
  readonly at: number
  readonly who: string
  readonly text: string
  readonly looks: 'plain' | 'good' | 'bad'
}
