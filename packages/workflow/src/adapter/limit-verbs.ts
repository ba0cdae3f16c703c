import type { DeclaredLimit, LimitLine, LimitRecord, LimitWait, RateSpan, TendedLimits } from './limits.ts'

/** The verbs of an adapter that are about limits. */
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

  /** The steps of a run that wait for slots, by step. */
  readLimitWaits(runId: string): Promise<readonly LimitWait[]>

  /**
   * Frees slots whose holder is gone, and gives free slots to steps that wait: all that a process may have left behind which died at the wrong time.
   * Also frees slots that were given to a step more than `unclaimedMs` ago of which no live worker has the definition. Looks at the slots, and at up
   * to `limit` lines after `after`. Never waits for a lock.
   */
  tendLimits(request: {
    readonly after: LimitLine | null
    readonly limit: number
    readonly unclaimedMs: number
  }): Promise<TendedLimits>
}
