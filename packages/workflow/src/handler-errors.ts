import { type Duration, durationMs } from './duration.ts'
import { BelayError } from './errors.ts'

/** Throw it from a handler or a compensation to fail at once, without the retries that are left. */
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
    super('retry_later', options.message ?? `Asked to be tried again after ${options.after}.`, options)
    this.afterMs = durationMs(options.after, 'RetryLaterError: after')
  }

  static override is(value: unknown): value is RetryLaterError {
    return BelayError.is(value) && value.code === 'retry_later'
  }
}
