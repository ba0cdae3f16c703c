/**
 * Who writes: a worker, or an operator’s process. Every guarded verb names it, and writes nothing unless it is alive in this epoch.
 */
export interface Identity {
  /** The store’s short number of the worker. */
  readonly worker: number
  /** Raised by `bump`: what was sent under a lower one is shut out. */
  readonly epoch: number
}

export interface NewIdentity {
  /** A uuid, by which people know the worker. */
  readonly id: string
  readonly name: string
  readonly host: string | null
  readonly leaseMs: number
  /** How many handlers run at once; 0: it acts for an operator, and claims nothing. */
  readonly slots: number
  /** Numbers of the definitions of which it has the code. */
  readonly definitions: readonly number[]
}

export interface Renewal {
  readonly leaseMs: number
  /** How many of its slots are taken. */
  readonly busy: number
}

/** What a renewal tells; `lost`: the worker was declared dead, and owns nothing any more. */
export type Renewed =
  | 'lost'
  | {
      /** The store’s clock, in epoch milliseconds. */
      readonly now: number
      /** What the store thinks that it owns: how many runs, and the sum of their fences. */
      readonly runs: number
      readonly fences: number
      /** Other live workers that have free slots. */
      readonly peers: number
    }

/** What one look at silent workers has found. */
export interface Swept {
  /** The public ids of workers that were declared dead. */
  readonly dead: readonly string[]
  /** How many of their runs are nobody’s now. */
  readonly runs: number
  /** How many runs whose time has come have a place now. */
  readonly placed: number
}
