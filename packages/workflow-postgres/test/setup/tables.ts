/** All tables but that of the migrations, by the end of their names, in an order in which they can be emptied. */
export const TABLES = [
  'schedules',
  'firings',
  'definitions',
  'definition_steps',
  'runs',
  'steps',
  'ready',
  'ready_items',
  'ready_late',
  'signals',
  'history',
  'attempts',
  'values',
  'run_ends',
  'children',
  'collections',
  'collected_calls',
  'workers',
  'leases',
  'limits',
  'limit_keys',
  'limit_slots',
  'limit_waiters',
] as const

/** SQL that empties a schema: creating one takes longer than most tests. */
export function emptyTables(schema: string): string {
  return TABLES.map((table) => `delete from ${schema}.workflow_${table}`).join(';')
}
