import type { Setting } from './plan-settings.ts'

/** What must hold in a session so that values mean the same to Belay's statements and to the server. */
const NEEDED = { array_nulls: 'on', client_encoding: 'UTF8', extra_float_digits: '1' } as const

const PATH = `pg_catalog.current_setting('search_path')`

/** Names and operators of the application's hide those of the system where pg_catalog is in the path, but not first in it. */
const IS_HIDING = `(${PATH} operator(pg_catalog.~) 'pg_catalog' and ${PATH} operator(pg_catalog.!~) '^ *"?pg_catalog"? *(,|$)')`

/** A search path in which nothing hides names of the system. The rest of it stays: triggers on Belay's tables may rely on it. */
export const SEARCH_PATH = `case when ${IS_HIDING} then 'pg_catalog, ' else '' end operator(pg_catalog.||) ${PATH}`

const NAMES = [...Object.keys(NEEDED), 'search_path']

export const VALUE_SETTINGS: readonly Setting[] = Object.entries(NEEDED).map(([name, value]) => [
  name,
  `'${value}'`,
])

/**
 * Whether a session is odd: it reads or writes values in another form than Belay's statements expect, or finds other operators. Its own ones are named with
 * their schema, as they run in odd sessions. Without array_nulls, a null in a list is the text
 * NULL, as in PostgreSQL 8.1; in another encoding, texts are garbled; with fewer digits, times are rounded.
 */
export const ODD = `(pg_catalog.current_setting('array_nulls') operator(pg_catalog.=) 'off'
    or pg_catalog.current_setting('client_encoding') operator(pg_catalog.<>) 'UTF8'
    or pg_catalog.current_setting('extra_float_digits')::int operator(pg_catalog.<) 0 or ${IS_HIDING})`

/** For the rest of a transaction in such a session. */
export const NOT_ODD = [
  ...VALUE_SETTINGS.map(([name, value]) => `set local ${name} = ${value}`),
  `select pg_catalog.set_config('search_path', ${SEARCH_PATH}, true)`,
].join('; ')

/** The settings as JSON, to be restored. */
export const VALUES = `pg_catalog.json_object(array[${NAMES.map((name) => `'${name}', pg_catalog.current_setting('${name}')`).join(', ')}])::text`

/** Columns that set them for the rest of the transaction, from JSON in a parameter. Without a search path in it, the present one is made safe. */
export function setValues(parameter: string): string {
  return NAMES.map((name) => {
    const given = `(${parameter}::pg_catalog.json operator(pg_catalog.->>) '${name}')`
    const value = name === 'search_path' ? `coalesce(${given}, ${SEARCH_PATH})` : given
    return `pg_catalog.set_config('${name}', ${value}, true)`
  }).join(', ')
}

export const NEEDED_VALUES = JSON.stringify(NEEDED)
