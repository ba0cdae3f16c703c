import type { OfferedHere } from '../api.ts'

/**
 * `GET waiting?workflow=…`: {@link WaitingPage}. What waits for somebody: the newest 500 approvals and the newest 500 signals, those of a workflow if one is
 * given.
 */
export interface WaitingPage {
  readonly readAt: number
  /** The nearest time limit first; then those without one, the longest wait first. */
  readonly waits: readonly Wait[]
  /** There are more, which are not read. */
  readonly more: boolean
}

export interface Wait {
  readonly kind: 'approval' | 'signal'
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly key?: string | undefined
  readonly step: string
  readonly since: number
  /** When its time limit is. Undefined if it has none. */
  readonly until?: number | undefined
  readonly actions: readonly OfferedHere[]
  /** Of an approval: what is to be decided. Undefined until its run was read. */
  readonly decided?: Decided | undefined
}

export interface Decided {
  /** The first plain fields of the run's input, redacted by the host; empty for a viewer without `payloads.read`. */
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  readonly tags: readonly string[]
}
