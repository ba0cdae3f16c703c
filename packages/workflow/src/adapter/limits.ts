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
  /**
   * What is recorded if there is no slot. Of a step, JSON text of a `SkippedBranch`: the step is skipped. Of a run, JSON text of a cause: the run is
   * cancelled, unless one of its steps has completed or failed already, as in a run that is older than the limit; such a run waits. Default: the step
   * waits.
   */
  readonly ifFull?: string | undefined
}

/** A slot that a run takes when it is started, or is not started. */
export interface StartLimit {
  /** The limit's name. */
  readonly limit: string
  /** Whose slots are counted together; empty if all of the limit are. */
  readonly key: string
  /** How many slots each key has, if the store knows no number yet. */
  readonly concurrency: number
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

/** A given place under a rate is void when its attempt enters later than this after its instant, in milliseconds: `per` divided by 10, but from 50 to 500. */
export function rateToleranceMs(perMs: number): number {
  return Math.min(500, Math.max(50, perMs / 10))
}

/** How far ahead steps that wait for a rate are given their instants, in milliseconds. */
export const RATE_HORIZON_MS = 1_500

/** What makes a limit one of how many attempts begin in a time, instead of how many are under way. */
export interface RateSpan {
  /** In how many milliseconds as many attempts begin as the limit's number says. */
  readonly perMs: number
  /** How many of them may begin at once after a quiet time, from 1. */
  readonly burst: number
}

/** A limit as code declares it. */
export interface DeclaredLimit {
  readonly name: string
  /** How many slots each key has; of a rate, how many attempts of each key begin in its time. */
  readonly concurrency: number
  /** Default: it is no rate. */
  readonly rate?: RateSpan | null | undefined
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
  /** Of a rate, the time and burst that belong to each of these numbers; null for a limit that is no rate, and where there is no number. */
  readonly rate: RateSpan | null
  readonly declaredRate: RateSpan | null
  readonly setRate: RateSpan | null
  /** Nobody enters with some of its keys before this instant, in epoch milliseconds, store clock; null for none. */
  readonly pushedBackUntil: number | null
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
  /** Of a rate; null for another limit. */
  readonly rate: RateSpan | null
  /** The instant at which it begins, in epoch milliseconds, store clock; null as long as it has none. With one, its place is 0. */
  readonly at: number | null
}

/** The use of one key of a limit. */
export interface LimitLineUse {
  readonly key: string
  /** Slots taken now. */
  readonly inUse: number
  /** Steps that wait for a slot. */
  readonly waiting: number
  /** The run of the step that waits first, and since when: epoch milliseconds, store clock. Null if none waits. */
  readonly first: { readonly runId: string; readonly since: number } | null
}

/** A step that waits for a slot which an ancestor of its run holds, until that ancestor's run has ended. The ancestor waits for this run. */
export interface LimitCircle {
  readonly runId: string
  readonly step: number
  readonly limit: string
  readonly key: string
  /** The ancestor: the nearest, if several hold a slot of the key. */
  readonly holderId: string
}

/** The most steps of each limit that are looked at for circles. */
export const CIRCLE_LOOKS_MAX = 100

/** A line of waiting steps: of one key of one limit. */
export interface LimitLine {
  readonly limit: string
  readonly key: string
}

/** A run that counts no more for a limit of which only the newest runs count. */
export interface OlderRun extends LimitLine {
  readonly runId: string
  /** The newest run of the key. */
  readonly newerRunId: string
}

export interface TendedLimits {
  /** Slots were given to steps, which are queued. */
  readonly queued: boolean
  /** The last line looked at, to continue from; null once all were. */
  readonly after: LimitLine | null
}

/** What a store does about limits, besides what ends attempts. */
export interface LimitVerbs {
  /** Stores what code declares of limits. A limit that was set at run time keeps what was set. */
  declareLimits(limits: readonly DeclaredLimit[]): Promise<void>

  /**
   * Sets how many slots each key of a limit has, whatever code declares; null goes back to that. A higher number gives slots to waiting steps at once,
   * of up to 1,000 keys, and `tendLimits` follows with the others; a lower one lets holders end. Returns the limit as it is then; null if there is
   * none, because nothing was ever declared or set.
   */
  setLimit(request: {
    readonly name: string
    readonly concurrency: number | null
    /** Of a rate, which is paused by 0. Its keys begin with an empty burst. Default: it is no rate. */
    readonly rate?: RateSpan | null | undefined
  }): Promise<LimitRecord | null>

  /**
   * Lets no further attempt of these keys enter before `afterMs` from now, on the store's clock, whatever kind their limits are of; then a rate begins
   * without its burst. An instant that is later already stays. Attempts that have entered go on.
   */
  pushBackLimits(request: { readonly lines: readonly LimitLine[]; readonly afterMs: number }): Promise<void>

  /** Limits by name, of these names or all of them. */
  readLimits(names?: readonly string[]): Promise<readonly LimitRecord[]>

  /** Up to `max` keys of a limit with taken slots or waiting steps: most waiting first, then most taken, then by key. */
  readLimitLines(request: { readonly limit: string; readonly max: number }): Promise<readonly LimitLineUse[]>

  /** The steps of a run that wait for slots, by step. */
  readLimitWaits(runId: string): Promise<readonly LimitWait[]>

  /**
   * The circles among the first `CIRCLE_LOOKS_MAX` waiting steps of each limit, by key and place, or of this run alone: by run and step. An ancestor is
   * the run whose step started the run, and waits for it, and so on upwards. Locks nothing: what it returns may be stale.
   */
  readLimitCircles(request?: { readonly runId?: string | undefined }): Promise<readonly LimitCircle[]>

  /**
   * The runs of these keys that are older than as many others as the limit has slots, but at least one: of those that go forward, have a slot of the
   * limit, or wait in its line. Only of keys in whose line a step waits for a slot of its run, and not of rates. A key of null means all keys of the
   * limit. Leaves out runs of which a pivot has completed, which no cancellation stops. A run is older if it was created earlier, by the store's clock;
   * of two created at one instant, the one with the lower id. Up to `limit` runs, by limit, key and run. Locks nothing: what it returns may be stale,
   * but newer runs never go away, so its runs are older than so many others in any case.
   */
  findOlderRuns(request: {
    readonly lines: readonly { readonly limit: string; readonly key: string | null }[]
    readonly limit: number
  }): Promise<readonly OlderRun[]>

  /**
   * Frees slots whose holder is gone, and gives free slots to steps that wait: all that a process may have left behind which died at the wrong time.
   * Also frees slots that were given to a step more than `unclaimedMs` ago of which no live worker has the definition. Looks at up
   * to `limit` lines after `after` in which steps wait, and at all other slots only if `allSlots`, which is the default: so many may be held for days.
   * Never waits for a lock.
   */
  tendLimits(request: {
    readonly after: LimitLine | null
    readonly limit: number
    readonly unclaimedMs: number
    readonly allSlots?: boolean
    /** The store refuses to look at this line, for whatever reason. The others were looked at. */
    readonly onRefused?: ((refused: LimitLine & { readonly error: unknown }) => void) | undefined
  }): Promise<TendedLimits>
}
