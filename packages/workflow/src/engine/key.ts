import { BelayError } from '../errors.ts'
import { isStorableText } from '../storable-text.ts'

const LENGTH_MAX = 512

/** Refuses what cannot name something in every store. `what` begins the message. */
export function checkKey(what: string, key: unknown): asserts key is string {
  if (typeof key === 'string' && key.length >= 1 && key.length <= LENGTH_MAX && isStorableText(key)) return
  throw new BelayError(
    'invalid_option',
    `${what} must be a text of 1 to ${LENGTH_MAX} characters, without NUL and without half of a surrogate pair; got ${shown(key)}.`,
  )
}

function shown(key: unknown): string {
  if (typeof key !== 'string') return typeof key
  return key.length > LENGTH_MAX ? `${key.length} characters` : JSON.stringify(key)
}
