/** A step that was called, and has not asked after this time, is passed over: the next in its line is called. In milliseconds. */
export const UNCLAIMED_MS = 1_000

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

/** An instant of a rate is missed when its attempt asks later than this after it, in milliseconds: `per` divided by 10, but from 50 to 500. */
export function rateToleranceMs(perMs: number): number {
  return Math.min(500, Math.max(50, perMs / 10))
}

/** How far ahead of an instant a step may be called, or may wait for it with a worker, in milliseconds. */
export const RATE_HORIZON_MS = 1_500

/** As many steps of a key are called ahead as begin in this time, in milliseconds, but at least two. */
export const CALLED_AHEAD_MS = 250

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

/** The numbers of a limit as the store knows them. */
export interface LimitNumbers {
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
}

/** A limit with its use. */
export interface LimitRecord extends LimitNumbers {
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
  /**
   * The instant at which its turn has come or comes, in epoch milliseconds, store clock; null as long as it stands in line. Then its place is 0: it was
   * called, and is queued, or has an instant of a rate.
   */
  readonly at: number | null
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
  /** Steps were called: they are queued. */
  readonly queued: boolean
  /** The last line looked at, to continue from; null once all were. */
  readonly after: LimitLine | null
}

/** What a store does about limits, besides what ends attempts. */
export interface LimitVerbs {
  /** Stores what code declares of limits. A limit that was set at run time keeps what was set. */
  declareLimits(limits: readonly DeclaredLimit[]): Promise<void>

  /**
   * Sets how many slots each key of a limit has, whatever code declares; null goes back to that. Touches nobody who waits: with a higher number,
   * `tendLimits` calls them; a lower one lets holders end. Returns the limit as it is then; null if there is none, because nothing was ever declared
   * or set.
   */
  setLimit(request: {
    readonly name: string
    readonly concurrency: number | null
    /** Of a rate, which is paused by 0. Its keys begin with an empty burst. Default: it is no rate. */
    readonly rate?: RateSpan | null | undefined
  }): Promise<LimitNumbers | null>

  /**
   * Lets no further attempt of these keys enter before `afterMs` from now, on the store's clock, whatever kind their limits are of; then a rate begins
   * without its burst. An instant that is later already stays. Attempts that have entered go on.
   */
  pushBackLimits(request: { readonly lines: readonly LimitLine[]; readonly afterMs: number }): Promise<void>

  /** Limits by name, of these names or all of them. `uncounted` leaves their use at 0 and null: counting reads all that wait. */
  readLimits(
    names?: readonly string[],
    options?: { readonly uncounted?: boolean },
  ): Promise<readonly LimitRecord[]>

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
   * Calls steps whose turn has come: of keys of which the store knows that it is time, of limits whose numbers have changed, and of keys with slots whose
   * holder is gone, which it frees: all that a process may have left behind which died at the wrong time. Passes over steps that were called
   * `UNCLAIMED_MS` ago. Looks for such slots in up to `limit` lines after `after` in which steps wait, and at all others only if `allSlots`, which is the
   * default: so many may be held for days. Never waits for a lock: a key that somebody has locked is left to the next look.
   */
  tendLimits(request: {
    readonly after: LimitLine | null
    readonly limit: number
    readonly allSlots?: boolean
    /** The store refuses to look at this line, for whatever reason. The others were looked at. */
    readonly onRefused?: ((refused: LimitLine & { readonly error: unknown }) => void) | undefined
  }): Promise<TendedLimits>
}
