import { BelayError } from './errors.ts'

/** A point in time: a `Date`, or a text with date, time and offset as ISO 8601 has them, like `'2026-03-01T09:00:00Z'`. */
export type Instant = Date | string

// A text without an offset means another moment on every machine: it is refused rather than guessed. A date alone is UTC, by the standard.
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/

/**
 * Reads an instant as epoch milliseconds. `option` names the option in the error.
 *
 * @throws BelayError `invalid_option` when the value is not an instant.
 */
export function instantMs(instant: Instant, option: string): number {
  const ms = parse(instant)
  if (Number.isFinite(ms)) return ms
  const given = instant instanceof Date ? 'an invalid Date' : JSON.stringify(instant)
  throw new BelayError(
    'invalid_option',
    `${option} is ${given}, which is not an instant. Give a Date, or a text with an offset like '2026-03-01T09:00:00Z'.`,
  )
}

function parse(instant: unknown): number {
  if (instant instanceof Date) return instant.getTime()
  return typeof instant === 'string' && ISO.test(instant.trim()) ? Date.parse(instant.trim()) : Number.NaN
}
