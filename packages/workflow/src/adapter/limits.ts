/** A slot that was given to a step which no live worker can run is freed after this time, in milliseconds. */
export const UNCLAIMED_MS = 10_000

/** One place under a limit that an attempt asks for. */
export interface LimitEntry {
  /** The limit's name. */
  readonly limit: string
  /** Whose places are counted together; empty if all of the limit are. */
  readonly key: string
  /** Who takes the slot: the attempt, until it has ended, or its run, until that has ended. */
  readonly of: 'step' | 'run'
}

/** An attempt that may hold slots. */
export interface SlotHolder {
  readonly runId: string
  readonly step: number
  readonly fence: number
}

/** What a call that ends attempts says of slots. */
export interface FreesSlots {
  /**
   * Attempts of the call that entered limits. Once the call has committed their outcomes, the slots of those that are over are freed, and so are
   * those of their runs that have ended: each goes to the step that has waited longest. If that does not happen, because the process dies, it is
   * left to `tendLimits`. Default: none.
   */
  readonly frees?: readonly SlotHolder[] | undefined
}

/** A limit as code declares it. */
export interface DeclaredLimit {
  readonly name: string
  /** How many slots each key has. */
  readonly concurrency: number
}

/** A limit as the store knows it. */
export interface LimitRecord {
  readonly name: string
  /** How many slots each key has: what was set, else what was declared. */
  readonly concurrency: number
  /** What the newest worker declared; null for a limit that was only set. */
  readonly declared: number | null
  /** What was set at run time; null if nothing was. */
  readonly set: number | null
  /** Slots taken now, of all keys. */
  readonly inUse: number
  /** Steps that wait for a slot, of all keys. */
  readonly waiting: number
}

/** Where a step stands that waits for a slot. */
export interface LimitWait {
  readonly step: number
  readonly limit: string
  readonly key: string
  /** Its place in the line of this key, from 1. */
  readonly place: number
  /** Epoch milliseconds, store clock. */
  readonly since: number
  /** How many slots the key has, and how many are taken. */
  readonly concurrency: number
  readonly inUse: number
}

/** A line of waiting steps: of one key of one limit. */
export interface LimitLine {
  readonly limit: string
  readonly key: string
}

export interface TendedLimits {
  /** Slots were given to steps, which are queued. */
  readonly queued: boolean
  /** The last line looked at, to continue from; null once all were. */
  readonly after: LimitLine | null
}
