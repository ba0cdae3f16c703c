import type { ActionRequest } from '../api.ts'

/**
 * | route | answer |
 * |---|---|
 * | `GET runs/:id/items/errors?map=…` | {@link ItemErrors} |
 * | `POST runs/:id/items/actions` | {@link ItemsResult}; the body is {@link ItemsRequest} |
 */
export interface ItemErrors {
  readonly readAt: number
  /** The largest first. One cause is one group: the same error in the same state. */
  readonly groups: readonly ItemErrorGroup[]
  /** How many items the groups have together: at most 1,000. */
  readonly read: number
  /** Later items were not read, and may fail too. */
  readonly more: boolean
}

export interface ItemErrorGroup {
  /** `retrying`: a next attempt follows by itself, of the item or of its undo. */
  readonly state: 'failed' | 'retrying' | 'undo parked' | 'undo retrying'
  readonly error: string
  /** By their index. */
  readonly items: readonly FailingItem[]
  /** When the first and the last of them failed. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** What the engine offers for them now. */
  readonly actions: readonly { readonly verb: ItemVerb; readonly denied: boolean }[]
}

export interface FailingItem {
  readonly index: number
  readonly key: string
}

export type ItemVerb = Extract<
  ActionRequest['verb'],
  'retryStep' | 'skipStep' | 'retryCompensation' | 'skipCompensation'
>

export interface ItemsRequest {
  readonly map: string
  readonly verb: ItemVerb
  /** The keys of 1 to 1,000 items. */
  readonly items: readonly string[]
  /** Tells what the engine offers for them, and changes nothing. */
  readonly dryRun: boolean
  readonly reason?: string
  /** To skip: what stands in for the output of each of them, as JSON text. */
  readonly payload?: string
}

export interface ItemsResult {
  /**
   * One for each item, in the order of the request. Shorter than the request once a second has passed, or the store failed: those that are missing were not
   * touched, and may be asked for again.
   */
  readonly results: readonly ItemResult[]
}

export interface ItemResult {
  readonly changed: boolean
  /** Why it was not, or would not be: words that are the same for all items with this reason. */
  readonly why?: string | undefined
}
