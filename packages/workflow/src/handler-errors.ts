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

  /** `after`: a duration, like `'10m'`. */
  constructor(options: { readonly after: Duration; readonly message?: string; readonly cause?: unknown }) {
    const { after, message, cause } = read(options)
    const afterMs = durationMs(after, 'RetryLaterError(): after')
    super('retry_later', message ?? `Asked to be tried again after ${after}.`, { cause })
    this.afterMs = afterMs
  }

  static override is(value: unknown): value is RetryLaterError {
    return BelayError.is(value) && value.code === 'retry_later'
  }
}

type RetryLaterOptions = ConstructorParameters<typeof RetryLaterError>[0]

function read(options: RetryLaterOptions): RetryLaterOptions {
  try {
    const { after, message, cause } = options
    return { after, ...(message === undefined ? {} : { message }), cause }
  } catch {
    throw new BelayError(
      'invalid_option',
      `RetryLaterError(): the options must be an object with after, message, cause; got ${shown(options)}.`,
    )
  }
}
