/** Why a run stopped going forward. */
export type RunCause =
  | {
      readonly type: 'step_failed'
      readonly step: string
      /** The number of the last attempt, as the handler saw it. */
      readonly attempt: number
      readonly error: SerialisedError
    }
  | { readonly type: 'cancelled'; readonly reason: string | undefined }
  /** The deadline that the run missed, as an ISO 8601 string. */
  | { readonly type: 'deadline'; readonly deadlineAt: string }
  /**
   * A limit of the workflow had no slot for this key, and says `atLimit: 'skip'`; with `newerRunId` it says `'cancel-older'`, and the newest run is that
   * one. The key is empty if the limit has none.
   */
  | {
      readonly type: 'limit_reached'
      readonly limit: string
      readonly key: string
      readonly newerRunId?: string | undefined
    }

/** A stored error, with causes and inner errors up to a depth of 5. */
export interface SerialisedError {
  readonly name: string
  readonly message: string
  /** The upper ten frames of its stack, without name and message. Absent with `storeStacks: false`, and if the thrown value has none. */
  readonly stack?: string | undefined
  readonly code?: string | undefined
  readonly cause?: SerialisedError | undefined
  /** The first inner errors, at most 8, like those of an `AggregateError`. The message tells the first three. */
  readonly errors?: readonly SerialisedError[] | undefined
}

/** An error without stacks, as values carry it: those of a step past whose failure the run went on, and of a map's collected items. */
export interface SettledError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  readonly cause?: SettledError | undefined
  readonly errors?: readonly SettledError[] | undefined
}

/** Says that a limit had no slot: `limit "sync" had no slot for key "acme"`; and which run is newer. */
export function limitReached({
  limit,
  key,
  newerRunId,
}: {
  readonly limit: string
  readonly key: string
  readonly newerRunId?: string | undefined
}): string {
  const full = `limit "${limit}" had no slot${key === '' ? '' : ` for key ${JSON.stringify(key)}`}`
  return newerRunId === undefined ? full : `${full} besides the newer run ${newerRunId}`
}
