import { BelayError } from './errors.ts'
import { nameOf, shown } from './shown.ts'

/** A point in time: a `Date`, or an ISO 8601 string with date, time and offset, like `'2026-03-01T09:00:00Z'`. */
export type Instant = Date | string

// A date and time without an offset depends on the machine's time zone: it is refused. A date alone is UTC, by the standard.
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/

/**
 * Reads an instant as epoch milliseconds. `option` names the option in the error.
 *
 * @throws BelayError `invalid_option` when the value is not an instant.
 */
export function instantMs(instant: Instant, option: string): number {
  const ms = parsed(instant)
  // Databases and ISO 8601 do not agree on instants outside this range.
  if (ms >= FIRST && ms <= LAST) return ms
  throw new BelayError(
    'invalid_option',
    `${nameOf(option, 'The instant')} is ${shown(instant)}, which is not an instant from year 1 to 9999. Give a Date, or a string with an offset like '2026-03-01T09:00:00Z'.`,
  )
}

const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** NaN if the value is not an instant, or throws when it is read. */
function parsed(instant: unknown): number {
  try {
    return parse(instant)
  } catch {
    return Number.NaN
  }
}

function parse(instant: unknown): number {
  if (instant instanceof Date) return instant.getTime()
  const text = typeof instant === 'string' ? instant.trim() : ''
  return ISO.test(text) && isInMonth(text) ? Date.parse(text) : Number.NaN
}

/** Tells whether the month has that day: Date.parse() reads 30 February as 2 March. */
function isInMonth(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}
