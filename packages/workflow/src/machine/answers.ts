/** What a handler answers. */
export interface Answer {
  readonly output?: unknown
  /** Of `decide`. */
  readonly yes?: boolean
  /** Of a map’s `open`: its items, in order. Of a loop’s: what its first round begins with. */
  readonly items?: readonly NewItem[]
  /** Of a map’s `open`: how many items may be under way; null or none: as many as there are. */
  readonly window?: number | null
  /** Of `run`: it is asked again then; of `open`: until when it waits. Epoch milliseconds; null: only mail ends the wait. */
  readonly due?: number | null
  /** Of a round, or of `until`: another one follows. */
  readonly more?: boolean
  /** With `more`: when it begins. Epoch milliseconds. Default: at once. */
  readonly nextAt?: number
  /** Of a function’s body: how many units it asked for. */
  readonly calls?: number
  /** Of a child’s `open`: what is to be started. The rest of it is for the store alone. Default of the id: the key of its unit’s round. */
  readonly child?: { readonly id: string }
  /** Of a child’s `undo`: its effects stay. */
  readonly keep?: boolean
}

export interface NewItem {
  /** As people name it. */
  readonly key: string
  readonly item?: unknown
}

/** What comes from outside the run. */
export interface MailIn {
  readonly body?: unknown
  /** Of a signal: its sender’s, and what its payload is compared by. */
  readonly key?: string
  readonly hash?: string
  /** Of a decision: it rejects. */
  readonly reject?: boolean
  /** Of a message: who is told its output. */
  readonly from?: string
  /** Of a mailbox: no more messages come. */
  readonly close?: boolean
  /** Of a child, by its id: how it ended, that it is undone, that it is not there, or that it refuses (its start or its undo). */
  readonly child?: string
  readonly ended?: 'completed' | 'failed' | 'compensated' | 'cancelled'
  readonly undone?: true
  readonly gone?: true
  readonly refused?: true
  readonly output?: unknown
  readonly error?: unknown
}

/** What became of mail. `kept`: it is taken once the unit waits for it. */
export type Receipt =
  | { readonly result: 'delivered' | 'kept' }
  /** It had come before, with this hash. */
  | { readonly result: 'duplicate'; readonly hash: string | undefined }
  | {
      readonly result: 'ignored'
      readonly reason: 'run_over' | 'step_over' | 'signalled' | 'timed_out' | 'not_waiting'
    }

export const DELIVERED: Receipt = { result: 'delivered' }
export const ignored = (reason: Extract<Receipt, { result: 'ignored' }>['reason']): Receipt => ({
  result: 'ignored',
  reason,
})

/** A call of a function’s body: the key and the kind of what it opens. */
export interface Call {
  /** Of the ask of the body. */
  readonly serial: number
  readonly key: string
  readonly kind: string
}
