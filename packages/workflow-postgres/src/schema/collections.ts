import { check, integer, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { oneOf } from './row-checks.ts'

/**
 * The newest run that collects calls, for each definition and key. Its row is the lock of that key. Everything but the key is null in a row that is
 * being made. Pruned with that run, once the collection is closed.
 */
export function makeCollections(schema: Schema) {
  return schema.table(
    'workflow_collections',
    {
      definitionId: integer('definition_id').notNull(),
      calls: integer().notNull().default(0),
      /** The UTF-8 size of a batch's input. */
      inputBytes: integer('input_bytes').notNull().default(0),
      runId: uuid('run_id'),
      openedAt: instant('opened_at'),
      /** The run takes calls before this instant, at which it may begin. */
      dueAt: instant('due_at'),
      /** From then on the row means nothing. */
      closesAt: instant('closes_at'),
      mode: text(),
      key: text().notNull(),
    },
    (table) => [
      primaryKey({ name: 'workflow_collections_pkey', columns: [table.definitionId, table.key] }),
      check('workflow_collections_mode_allowed', oneOf(table.mode, ['debounce', 'throttle', 'batch'])),
    ],
  )
}

/** The calls that a run carries: they make it harmless to send a call twice. Pruned with the run. */
export function makeCollectedCalls(schema: Schema) {
  return schema.table(
    'workflow_collected_calls',
    {
      runId: uuid('run_id').notNull(),
      position: integer().notNull(),
      definitionId: integer('definition_id').notNull(),
      callId: uuid('call_id').notNull(),
      key: text().notNull(),
      inputHash: text('input_hash'),
    },
    (table) => [
      primaryKey({ name: 'workflow_collected_calls_pkey', columns: [table.runId, table.position] }),
      uniqueIndex('workflow_collected_calls_call_key').on(table.callId),
    ],
  )
}
