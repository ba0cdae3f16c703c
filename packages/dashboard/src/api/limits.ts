/**
 * | route | answer |
 * |---|---|
 * | `GET limits` | {@link LimitsPage}: the first 100 by name, with their longest ten lines |
 * | `GET limits/:name` | {@link LimitPage}: with its longest 200 lines |
 * | `POST limits/:name/actions` | `ActionResult`; the body is {@link LimitActionRequest} |
 */
export interface LimitsPage {
  readonly readAt: number
  readonly limits: readonly LimitPage[]
  readonly more: boolean
}

export interface LimitPage {
  readonly name: string
  /** Slots of each key. Undefined for a rate. */
  readonly slots?: number | undefined
  readonly rate?: Rate | undefined
  /** What code declares, if something else was set at run time. */
  readonly declared?: number | Rate | undefined
  readonly inUse: number
  readonly waiting: number
  /** Nobody enters with some of its keys before then. */
  readonly pushedBackUntil?: number | undefined
  /** The longest first. */
  readonly lines: readonly LimitLine[]
  /** There are more lines than these. */
  readonly more: boolean
  /** What was changed through this dashboard's process, the newest first: nothing else keeps it. */
  readonly changes: readonly LimitChange[]
}

export interface Rate {
  readonly limit: number
  readonly perMs: number
  readonly burst: number
}

export interface LimitLine {
  /** Empty for a limit without keys. */
  readonly key: string
  readonly inUse: number
  readonly waiting: number
  readonly first?:
    | { readonly runId: string; readonly runKey?: string | undefined; readonly since: number }
    | undefined
}

export interface LimitChange {
  readonly at: number
  readonly by: string
  readonly reason: string
  readonly sentence: string
}

export interface LimitActionRequest {
  readonly action: 'set' | 'reset'
  /** Tells what would happen, and changes nothing. */
  readonly dryRun: boolean
  readonly reason?: string
  /** To set: slots of each key; of a rate, how many begin in its time, which stays. 0 to 100,000. */
  readonly limit?: number
}
