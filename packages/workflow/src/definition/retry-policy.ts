import { type Duration, durationText } from '../duration.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { checkOptionNames, oneOf, optionMs, wholeNumber, yesOrNo } from './option-check.ts'
import type { RetryPolicy } from './step.ts'

/** How a failed attempt is retried. Missing options come from the workflow's `retry`, then from {@link DEFAULT_RETRY}. */
export interface RetryOptions {
  /** The number of attempts, including the first. Default 4. Give either this or `retries`. */
  readonly attempts?: number | undefined
  /** The number of attempts after the first. Default 3. */
  readonly retries?: number | undefined
  /** How the delay grows with each retry: `exponential` doubles it, `linear` adds `initial`, `constant` keeps it. Default `exponential`. */
  readonly backoff?: RetryPolicy['backoff'] | undefined
  /** The delay before the first retry. Default 1 s. */
  readonly initial?: Duration | undefined
  /** The longest delay. Default 30 s, or `initial` when that is longer. */
  readonly max?: Duration | undefined
  /** Randomises delays, so that steps that failed together are not retried together. Default true. */
  readonly jitter?: boolean | undefined
  /**
   * How long to retry, counted from the start of the first failed attempt: after that, no retry begins, and a running attempt times out. Without
   * `attempts` or `retries`, this is the only limit.
   */
  readonly for?: Duration | undefined
}

export const RETRY_OPTION_NAMES = [
  'attempts',
  'retries',
  'backoff',
  'initial',
  'max',
  'jitter',
  'for',
] as const

/** The most attempts a step may have. */
export const ATTEMPTS_MAX = 10_000

/** 3 retries: after 1 s, 2 s and 4 s, less jitter. */
export const DEFAULT_RETRY: RetryPolicy = Object.freeze({
  attempts: 4,
  backoff: 'exponential',
  initialMs: 1_000,
  maxMs: 30_000,
  jitter: true,
  forMs: null,
})

/** Reads `retry`: `false` means one attempt, `undefined` means the inherited policy. */
export function retryPolicy(
  place: Place,
  given: RetryOptions | false | undefined,
  inherited: RetryPolicy,
): RetryPolicy {
  if (given === undefined) return inherited
  if (given === false) return Object.freeze({ ...inherited, attempts: 1 })
  checkOptionNames(place, 'retry', given, RETRY_OPTION_NAMES)
  const initialMs =
    given.initial === undefined ? inherited.initialMs : optionMs(place, 'initial', given.initial)
  return Object.freeze({
    attempts: attempts(place, given) ?? (given.for === undefined ? inherited.attempts : ATTEMPTS_MAX),
    backoff:
      given.backoff === undefined
        ? inherited.backoff
        : oneOf(place, 'backoff', given.backoff, ['exponential', 'linear', 'constant']),
    initialMs,
    maxMs: maxMs(place, given, initialMs, inherited),
    jitter: given.jitter === undefined ? inherited.jitter : yesOrNo(place, 'jitter', given.jitter),
    forMs: given.for === undefined ? inherited.forMs : optionMs(place, 'for', given.for),
  })
}

function attempts(place: Place, given: RetryOptions): number | undefined {
  if (given.attempts !== undefined && given.retries !== undefined) {
    throw definitionError(
      place,
      'attempts and retries are both given. Keep one: attempts includes the first attempt, retries does not.',
    )
  }
  if (given.retries !== undefined) {
    return wholeNumber(place, 'retries', given.retries, { min: 0, max: ATTEMPTS_MAX - 1 }) + 1
  }
  if (given.attempts === undefined) return undefined
  return wholeNumber(place, 'attempts', given.attempts, { min: 1, max: ATTEMPTS_MAX })
}

function maxMs(place: Place, given: RetryOptions, initialMs: number, inherited: RetryPolicy): number {
  // The limit is inherited, `initial` was chosen here: a longer `initial` raises the limit.
  if (given.max === undefined) return Math.max(inherited.maxMs, initialMs)
  const limitMs = optionMs(place, 'max', given.max)
  if (limitMs >= initialMs) return limitMs
  throw definitionError(
    place,
    `max is ${durationText(limitMs)}, less than initial (${durationText(initialMs)}). Raise max or lower initial.`,
  )
}
