import type { EndStatus } from './lifecycle.ts'

/** The run for which another run was started: the parent of a child, or the ended run of a follow-up. */
export interface ParentRun {
  readonly runId: string
  /** The number of the parent's step that started the run; null if its end did. */
  readonly step: number | null
}

/**
 * One end of a run that reports its ends. The store writes it in the commit that ends the run, and keeps it until it is forgotten: so whatever follows
 * from an end follows at least once, although the process that ended the run may be gone. A run that is sent forward again and ends again has another.
 */
export interface RunEnd {
  /** Grows with every end, and tells one end from another. A decimal number as text. */
  readonly sequence: string
  readonly runId: string
  /** The definition that the run had when it ended. */
  readonly definitionId: number
  readonly workflow: string
  /** The key of the run, if it has one still. */
  readonly key: string | null
  /** The status with which the run ended, which an operator may have changed since. */
  readonly status: EndStatus
  readonly parent: ParentRun | null
}

/**
 * `woken`: the parent's step is claimable and looks at its child, or will be when its run is resumed. `busy`: an attempt of the step is under way,
 * which may have looked too early, or somebody has locked the step or its run: ask again. `over`: nobody waits.
 */
export type WokenParent =
  | { readonly result: 'woken'; readonly definitionId: number }
  | { readonly result: 'busy' | 'over' }

export interface RunEndsRequest {
  readonly definitionIds: readonly number[]
  /** Only ends after this one, for paging. */
  readonly after?: string | undefined
  readonly limit: number
}
