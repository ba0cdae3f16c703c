import { END_STATUSES, type EndStatus } from '../adapter/index.ts'
import type { Duration } from '../duration.ts'
import { checkNames, durationBetween, wholeNumber } from './call-options.ts'
import { AGE_MAX_MS, type Archive, BATCH_DEFAULT, BATCH_MAX, checkArchive } from './prune.ts'

/** How long ended runs are kept, by how they ended. What is not named is kept for ever. */
export interface RetentionPolicy {
  readonly completed?: Duration
  readonly failed?: Duration
  readonly compensated?: Duration
  readonly cancelled?: Duration
  /** After how long the key of an ended run, whatever its end, can be used again. */
  readonly keys?: Duration
  /** How often a worker looks for what is due, 1 s to 1 day. Default 1 min. */
  readonly every?: Duration
  /** Runs deleted in one transaction, 1 to 10,000. Default 500. */
  readonly batch?: number
  /** Is given every run before it is deleted. */
  readonly archive?: Archive
}

export interface RetentionSettings {
  readonly ends: readonly { readonly status: EndStatus; readonly keptMs: number }[]
  readonly keysKeptMs: number | undefined
  readonly everyMs: number
  readonly batch: number
  readonly archive: Archive | undefined
}

const CALL = 'createEngine(): retention'

/** Throws `invalid_option`. */
export function checkRetention(policy: RetentionPolicy): RetentionSettings {
  checkNames(CALL, policy, [...END_STATUSES, 'keys', 'every', 'batch', 'archive'])
  const age = (name: string, value: Duration) => durationBetween(CALL, name, value, 0, AGE_MAX_MS)
  return {
    ends: END_STATUSES.flatMap((status) => {
      const kept = policy[status]
      return kept === undefined ? [] : [{ status, keptMs: age(status, kept) }]
    }),
    keysKeptMs: policy.keys === undefined ? undefined : age('keys', policy.keys),
    everyMs: durationBetween(CALL, 'every', policy.every ?? '1m', 1_000, 86_400_000),
    batch: wholeNumber(CALL, 'batch', policy.batch ?? BATCH_DEFAULT, 1, BATCH_MAX),
    archive: checkArchive(CALL, policy.archive),
  }
}
