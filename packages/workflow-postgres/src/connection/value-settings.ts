import type { Setting } from './plan-settings.ts'

/** What must hold in a session so that values mean the same to Belay's statements and to the server. */
const NEEDED = { array_nulls: 'on', client_encoding: 'UTF8', extra_float_digits: '1' } as const

const NAMES = Object.keys(NEEDED)

export const VALUE_SETTINGS: readonly Setting[] = Object.entries(NEEDED).map(([name, value]) => [
  name,
  `'${value}'`,
])

/**
 * Whether a session is odd: it reads or writes values in another form than Belay's statements expect. Without array_nulls, a null in a list is the text
 * NULL, as in PostgreSQL 8.1; in another encoding, texts are garbled; with fewer digits, times are rounded.
 */
export const ODD = `(pg_catalog.current_setting('array_nulls') = 'off' or pg_catalog.current_setting('client_encoding') <> 'UTF8'
    or pg_catalog.current_setting('extra_float_digits')::int < 0)`

/** For the rest of a transaction in such a session. */
export const NOT_ODD = VALUE_SETTINGS.map(([name, value]) => `set local ${name} = ${value}`).join('; ')

/** The settings as JSON, to be restored. */
export const VALUES = `pg_catalog.json_object(array[${NAMES.map((name) => `'${name}', pg_catalog.current_setting('${name}')`).join(', ')}])::text`

/** Columns that set them for the rest of the transaction, from JSON in a parameter. */
export function setValues(parameter: string): string {
  return NAMES.map((name) => `pg_catalog.set_config('${name}', ${parameter}::json ->> '${name}', true)`).join(
    ', ',
  )
}

export const NEEDED_VALUES = JSON.stringify(NEEDED)
