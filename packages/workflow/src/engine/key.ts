import { BelayError } from '../errors.ts'

const LENGTH_MAX = 512

/** Refuses what cannot name something in every store. `what` begins the message. */
export function checkKey(what: string, key: unknown): asserts key is string {
  // NUL is the one character PostgreSQL's text cannot hold.
  if (typeof key === 'string' && key.length >= 1 && key.length <= LENGTH_MAX && !key.includes('\0')) return
  throw new BelayError(
    'invalid_option',
    `${what} must be a text of 1 to ${LENGTH_MAX} characters without NUL; got ${typeof key === 'string' ? `${key.length} characters` : typeof key}.`,
  )
}
