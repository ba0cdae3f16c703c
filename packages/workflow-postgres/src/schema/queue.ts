import { index, integer, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'

/**
 * Queued steps with a priority, and undos, that are not due yet. The ready queue has each at the time when it is due. A sweep after that time adds a
 * hint at its place, `lead` minutes before, and deletes the row here. Like hints, rows may be stale.
 */
export function makeReadyLate(schema: Schema) {
  return schema.table(
    'workflow_ready_late',
    {
      dueAt: instant('due_at').notNull(),
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      fence: integer().notNull(),
      lead: integer().notNull(),
      runId: uuid('run_id').notNull(),
    },
    (table) => [index('workflow_ready_late_due_idx').on(table.dueAt)],
  )
}
