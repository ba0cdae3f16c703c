/** A setting's name, and an SQL expression for its value. */
export type Setting = readonly [name: string, value: string]

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
