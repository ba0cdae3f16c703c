/** A setting's name, and an SQL expression for its value. */
export type Setting = readonly [name: string, value: string]

/**
 * Whether a session reads or writes values in another form than Belay's statements expect: without array_nulls, a null in a list is the text NULL, as
 * in PostgreSQL 8.1; with fewer digits, times are rounded.
 */
export const ODD = `(pg_catalog.current_setting('array_nulls') = 'off' or pg_catalog.current_setting('extra_float_digits')::int < 0)`

export const VALUE_SETTINGS: readonly Setting[] = [
  ['array_nulls', `'on'`],
  ['extra_float_digits', `'1'`],
]

/** For the rest of a transaction in such a session. */
export const NOT_ODD = VALUE_SETTINGS.map(([name, value]) => `set local ${name} = ${value}`).join('; ')

/**
 * Belay's statements look rows up by primary key, whatever number of rows the statistics claim. With these settings, plans made when a table was
 * empty are still right when it holds millions of rows.
 */
export const PLAN_SETTINGS: readonly Setting[] = [
  ['plan_cache_mode', `'force_generic_plan'`],
  ['enable_seqscan', `'off'`],
  ['enable_hashjoin', `'off'`],
  ['enable_mergejoin', `'off'`],
  ['enable_bitmapscan', `'off'`],
  ['jit', `'off'`],
]
