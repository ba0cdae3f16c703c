import { FORWARD_STATUSES, LIVE_STATUSES } from '@belay/workflow/adapter'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  json,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { oneOf, runFitsStatus, STOPPED_ENDS } from './row-checks.ts'

/** One row per run. No foreign key here or to here: if many transactions share the lock on one row, Postgres makes MultiXacts. */
// Longer than other functions: one table, with its columns, indexes and checks.
export function makeRuns(schema: Schema) {
  return schema.table(
    'workflow_runs',
    {
      id: uuid().primaryKey(),
      definitionId: integer('definition_id').notNull(),
      /** Forward: the number of open sinks. In an undo: the number of open undos. The run ends at zero. */
      openSteps: integer('open_steps').notNull(),
      createdAt: instant('created_at').notNull(),
      finishedAt: instant('finished_at'),
      status: text().notNull(),
      /** When the run may begin; null for at once. Its first steps are queued for this time. */
      startAt: instant('start_at'),
      /** When the run fails unless it has ended before. */
      deadlineAt: instant('deadline_at'),
      /** Why the run stopped going forward: `failure`, `cancellation`, or `abandonment`, a cancellation that undoes nothing. */
      stop: text(),
      /** How the run ends after its undo. Null until the undo begins, so a stopped run without it is draining. */
      endsAs: text('ends_as'),
      workflow: text().notNull(),
      key: text(),
      /** For a run with a key: a hash of the input as its caller gave it, before its schema changed anything. */
      inputHash: text('input_hash'),
      /** Labels to find the run by, besides its key; null for none. */
      tags: text().array(),
      /**
       * True if the time in the run's id is minutes away from `created_at`: the starter's clock was wrong, or the id is not time-ordered. Null
       * otherwise: such runs are found by creation time through their id, without a separate index.
       */
      stray: boolean(),
      /** The run that this one was started for, and the number of its step that did; without a step, its end did. Null for other runs. */
      parentRunId: uuid('parent_run_id'),
      parentStep: integer('parent_step'),
      /** True if each end of the run becomes a row of `workflow_run_ends`, by a trigger. Null for false. */
      reportsEnd: boolean('reports_end'),
      /** Null for 0. */
      priority: integer(),
      input: json(),
      cause: json(),
    },
    (table) => [
      uniqueIndex('workflow_runs_workflow_key_key')
        .on(table.workflow, table.key)
        .where(sql`${table.key} is not null`),
      index('workflow_runs_workflow_status_idx').on(table.workflow, table.status, table.id),
      index('workflow_runs_live_idx').on(table.id).where(oneOf(table.status, LIVE_STATUSES)),
      index('workflow_runs_draining_idx')
        .on(table.id)
        .where(sql`${table.status} = 'compensating' and ${table.endsAs} is null`),
      index('workflow_runs_finished_idx')
        .on(table.finishedAt, table.id)
        .where(sql`${table.finishedAt} is not null`),
      index('workflow_runs_deadline_idx')
        .on(table.deadlineAt)
        .where(
          sql`${table.deadlineAt} is not null and ${table.stop} is null and ${oneOf(table.status, FORWARD_STATUSES)}`,
        ),
      // GIN collects new entries in a list that one starter merges. Keep it short, because that starter and every reader scan it.
      index('workflow_runs_tags_idx')
        .using('gin', table.tags)
        .with({ gin_pending_list_limit: '256' })
        .where(sql`${table.tags} is not null`),
      index('workflow_runs_stray_idx').on(table.createdAt).where(sql`${table.stray}`),
      check('workflow_runs_fits_status', runFitsStatus(table)),
      check('workflow_runs_open_steps_counted', sql`${table.openSteps} >= 0`),
      check('workflow_runs_stop_allowed', oneOf(table.stop, ['failure', 'cancellation', 'abandonment'])),
      check('workflow_runs_ends_as_allowed', oneOf(table.endsAs, STOPPED_ENDS)),
      check('workflow_runs_stopped_has_cause', sql`(${table.stop} is null) = (${table.cause} is null)`),
      check('workflow_runs_undo_was_stopped', sql`${table.endsAs} is null or ${table.stop} is not null`),
    ],
  )
}

/** The runs that were started for another, by that run. A table of its own, so that no index of the runs has to be built. Pruned with the child. */
export function makeChildren(schema: Schema) {
  return schema.table(
    'workflow_children',
    { parentRunId: uuid('parent_run_id').notNull(), runId: uuid('run_id').notNull() },
    (table) => [primaryKey({ name: 'workflow_children_pkey', columns: [table.parentRunId, table.runId] })],
  )
}
