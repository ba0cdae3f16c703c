import { type Duration, durationMs } from './duration.ts'
import { BelayError } from './errors.ts'
import { shown } from './shown.ts'

/** Throw it from a handler or a compensation to fail at once, without further retries. */
export class PermanentError extends BelayError {
  override readonly name = 'PermanentError'
  constructor(message: string, context: { readonly cause?: unknown } = {}) {
    super('permanent', message, context)
  }
}

/** Throw it from a handler or a compensation to choose the delay before the next attempt. The attempt counts as failed. */
export class RetryLaterError extends BelayError {
  override readonly name = 'RetryLaterError'
  /** Milliseconds. */
  readonly afterMs: number
  /** The limit that is pushed back: its name, or true for all limits of the step. Undefined for none. */
  readonly limit: string | true | undefined

  /**
   * `after`: a duration, like `'10m'`. `limit`: the name of a limit of this step, or true for all of them: nobody enters it with the key of this attempt
   * before then, for example because a partner has answered with 429. In a compensation, which enters no limits, a name means the limit's steps
   * without a key. Default: only this step waits.
   */
  constructor(options: {
    readonly after: Duration
    readonly limit?: string | boolean | undefined
    readonly message?: string
    readonly cause?: unknown
  }) {
    const { after, limit, message, cause } = read(options)
    const afterMs = durationMs(after, 'RetryLaterError(): after')
    if (limit !== undefined && typeof limit !== 'boolean' && (typeof limit !== 'string' || limit === '')) {
      throw new BelayError(
        'invalid_option',
        `RetryLaterError(): limit is ${shown(limit)}, and must be the name of a limit, or true for all limits of the step.`,
      )
    }
    super('retry_later', message ?? `Asked to be tried again after ${after}.`, { cause })
    this.afterMs = afterMs
    this.limit = limit === false ? undefined : limit
  }

  static override is(value: unknown): value is RetryLaterError {
    return BelayError.is(value) && value.code === 'retry_later'
  }
}

type RetryLaterOptions = ConstructorParameters<typeof RetryLaterError>[0]

function read(options: RetryLaterOptions): RetryLaterOptions {
  try {
    const { after, limit, message, cause } = options
    return { after, limit, ...(message === undefined ? {} : { message }), cause }
  } catch {
    throw new BelayError(
      'invalid_option',
      `RetryLaterError(): the options must be an object with after, limit, message, cause; got ${shown(options)}.`,
    )
  }
}
