import { ENDS, type EndStatus } from '../../adapter/index.ts'
import type { Duration } from '../../duration.ts'
import { callback, checkOptions, duration, type OptionTable, wholeNumber } from '../../options/index.ts'
import { AGE_MAX, type Archive, BATCH_DEFAULT, BATCH_MAX } from './prune.ts'

/** How long ended runs are kept, by status. Runs with a status that is not named are kept for ever. */
export interface RetentionPolicy {
  readonly completed?: Duration
  readonly failed?: Duration
  readonly compensated?: Duration
  readonly cancelled?: Duration
  /** How long after its end a run's key can be used again, for every status. */
  readonly keys?: Duration
  /** How often a worker looks for runs to prune, 1 s to 1 day. Default 1 min. */
  readonly every?: Duration
  /** Runs deleted in one transaction, 1 to 10,000. Default 500. */
  readonly batch?: number
  /** Gets every run before it is deleted. */
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
const AGE = duration(0, AGE_MAX)
const KEPT = (status: EndStatus) => ({ sets: `how long ${status} runs are kept`, takes: AGE })

const OPTIONS = {
  completed: KEPT('completed'),
  failed: KEPT('failed'),
  compensated: KEPT('compensated'),
  cancelled: KEPT('cancelled'),
  keys: { sets: 'after how long the key of an ended run can be used again', takes: AGE },
  every: { sets: 'how often a worker looks for runs to prune', takes: duration('1s', '1d'), default: '1m' },
  batch: {
    sets: 'how many runs are deleted in one transaction',
    takes: wholeNumber(1, BATCH_MAX),
    default: BATCH_DEFAULT,
  },
  archive: { sets: 'the function that gets every run before it is deleted', takes: callback<Archive>() },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkRetention(policy: unknown): RetentionSettings {
  const { keys, every, batch, archive, ...ends } = checkOptions(CALL, policy, OPTIONS)
  return {
    ends: ENDS.flatMap((status) => {
      const keptMs = ends[status]
      return keptMs === undefined ? [] : [{ status, keptMs }]
    }),
    keysKeptMs: keys,
    everyMs: every,
    batch,
    archive,
  }
}
