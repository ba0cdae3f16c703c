import { BelayError } from '../errors.ts'

/** A later try may succeed: the store could not be reached, did not answer, or refused a call that it may accept later. */
export function isUnavailable(error: unknown): error is BelayError {
  return BelayError.is(error) && error.code === 'store_unavailable'
}

/** The store did not answer, or nothing can be asked of it now: the call may have taken effect, and any other one would fail too. */
export function isUnreachable(error: unknown): error is BelayError {
  return isUnavailable(error) && !('answered' in error && error.answered === true)
}

/** Another transaction has locked a row that the call needs. Nothing was written. */
export function isContended(error: unknown): error is BelayError {
  return BelayError.is(error) && error.code === 'store_contended'
}
