import type { JsonText } from '../adapter/new-item.ts'

/** An event for a run, from whoever does not own it. */
export interface Mail {
  readonly run: string
  /** Unique within the run: what is sent again under it is not stored again. */
  readonly key: string
  /** What its owner reads. No store does. */
  readonly event: JsonText
  /** What a user’s value in it is, as the very text. */
  readonly payload?: JsonText
  /** A run that has ended goes on with it: it may be claimed again. */
  readonly reopens?: true
}

export interface StoredMail {
  /** Later mail has a higher one. Of two senders, the one that commits later may have the lower one. */
  readonly sequence: number
  readonly key: string
  readonly event: JsonText
  readonly payload: JsonText
}

/** What became of mail: stored, with the worker that owned the run then; there before, with its answer once it was applied; or too late. */
export type Sent =
  | { readonly result: 'sent'; readonly sequence: number; readonly owner: number | null }
  | {
      readonly result: 'duplicate'
      readonly sequence: number
      readonly payload: JsonText
      readonly answer: JsonText
    }
  | { readonly result: 'ended' }
  | { readonly result: 'unknown' }

/** What its owner answered. */
export interface AppliedMail {
  readonly sequence: number
  readonly answer: JsonText
}
