/** What a handler answers. */
export interface Answer {
  readonly output?: unknown
  /** Of `decide`. */
  readonly yes?: boolean
  /** Of a map’s `open`: how many items there are. */
  readonly items?: number
  /** Of `run`: it is asked again then; of `open`: until when it waits. Epoch milliseconds; null: only mail ends the wait. */
  readonly due?: number | null
  /** Of a function’s body: how many units it asked for. */
  readonly calls?: number
  /** Of a child’s `open`: what is to be started, for the store alone. */
  readonly child?: unknown
}

/** What comes from outside the run. */
export interface MailIn {
  readonly body?: unknown
  readonly from?: string
  /** Of a decision: it rejects. */
  readonly reject?: boolean
  /** Of a mailbox: no more messages come. */
  readonly close?: boolean
  /** Of a child, by its id: how it ended, that it is undone, or that it refuses its undo. */
  readonly child?: string
  readonly ended?: 'completed' | 'failed' | 'compensated' | 'cancelled'
  readonly undone?: true
  readonly refused?: true
  readonly output?: unknown
}
