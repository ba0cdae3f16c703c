import { sql } from 'drizzle-orm'
import { boolean, check, customType, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { oneOf } from './row-checks.ts'

/** Names are in the same order in every database. */
const plainText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })

/** One row per schedule. What its owner put is JSON: no statement looks into it, except the view for people. */
export function makeSchedules(schema: Schema) {
  return schema.table(
    'workflow_schedules',
    {
      name: plainText().primaryKey(),
      workflow: text().notNull(),
      declared: boolean().notNull(),
      revision: integer().notNull(),
      /** The number of its newest firing. */
      firings: integer().notNull(),
      createdAt: instant('created_at').notNull(),
      updatedAt: instant('updated_at').notNull(),
      pausedAt: instant('paused_at'),
      /** The next time that has not been dealt with; null once the schedule has ended. */
      nextAt: instant('next_at'),
      /** When a worker must look at it; null for never. */
      dueAt: instant('due_at'),
      pauseReason: text('pause_reason'),
      spec: json().notNull(),
      input: json(),
    },
    (table) => [
      index('workflow_schedules_due_idx').on(table.dueAt, table.name).where(sql`${table.dueAt} is not null`),
      index('workflow_schedules_declared_idx').on(table.name).where(sql`${table.declared}`),
      index('workflow_schedules_workflow_idx').on(table.workflow, table.name),
      check('workflow_schedules_paused_is_not_due', sql`${table.pausedAt} is null or ${table.dueAt} is null`),
    ],
  )
}

/** One row per firing: the newest of each schedule, and those that are open. */
export function makeFirings(schema: Schema) {
  return schema.table(
    'workflow_firings',
    {
      schedule: plainText().notNull(),
      sequence: integer().notNull(),
      scheduledAt: instant('scheduled_at').notNull(),
      /** Of times that were missed, the last. */
      untilAt: instant('until_at'),
      decidedAt: instant('decided_at').notNull(),
      cause: text().notNull(),
      status: text().notNull(),
      runId: uuid('run_id'),
      /** It waits, or nobody has seen its run end. */
      isOpen: boolean('is_open').notNull(),
      reason: text(),
    },
    (table) => [
      primaryKey({ name: 'workflow_firings_pkey', columns: [table.schedule, table.sequence] }),
      index('workflow_firings_open_idx').on(table.schedule, table.sequence).where(sql`${table.isOpen}`),
      index('workflow_firings_failed_idx')
        .on(table.schedule, table.sequence)
        .where(sql`${table.status} = 'failed'`),
      check(
        'workflow_firings_status_allowed',
        oneOf(table.status, ['started', 'queued', 'skipped', 'missed', 'failed']),
      ),
    ],
  )
}
