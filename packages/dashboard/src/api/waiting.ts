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
}
