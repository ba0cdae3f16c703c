import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { stepFitsStatus } from './row-checks.ts'

/**
 * One row per step per run, and no index but the primary key: a hot write then changes one page and can stay on it. `workflow_ready` holds what may
 * be claimed. A status index here would also mislead the planner.
 */
// Longer than other functions: one table, with its columns and checks.
export function makeSteps(schema: Schema) {
  return schema.table(
    'workflow_steps',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      openDependencies: integer('open_dependencies').notNull(),
      /** Fences late writes: it grows with every claim, forward or undo, and with every move. It means nothing else. */
      fence: integer().notNull().default(0),
      failures: integer().notNull().default(0),
      losses: integer().notNull().default(0),
      workerId: uuid('worker_id'),
      startedAt: instant('started_at'),
      finishedAt: instant('finished_at'),
      status: text().notNull(),
      undoOf: text('undo_of'),
      output: json(),
      error: json(),
      /** For a ready or waiting step: when it is due, by a retry's delay or a timer. Null for at once, or for a wait without end. */
      availableAt: instant('available_at'),
      /** When the step first began to wait. */
      waitingSince: instant('waiting_since'),
      /** When the signal arrived that this step waits for, or will wait for. The signal's payload is in `output`. */
      signalledAt: instant('signalled_at'),
      /** When the first of the latest series of failed attempts began; kept after the series has ended. */
      failingSince: instant('failing_since'),
      /**
       * Whether the handler of an attempt that did not complete has begun. Null if nobody recorded it: then a claimed step counts as begun. Written
       * only when an attempt is released, fails or is lost.
       */
      begun: boolean(),
      /** The handler returned a value that cannot be stored: its effect is there, although the step failed. */
      succeeded: boolean(),
      /** Which effect of the step this is, from 1. It grows when an undone step runs again, and is part of the idempotency key. */
      round: integer().notNull().default(1),
      /** Forward attempts of this round. Null in rows written before attempts were counted. */
      attempts: integer().default(0),
      /** The same for its undo; null until that begins. */
      undoAttempts: integer('undo_attempts'),
      undoFailures: integer('undo_failures'),
      undoLosses: integer('undo_losses'),
      undoStartedAt: instant('undo_started_at'),
      undoFinishedAt: instant('undo_finished_at'),
      /** An operator declared the undo done. */
      undoSkipped: boolean('undo_skipped'),
      undoError: json('undo_error'),
      /** Whether the step runs or is skipped, as its definition decided, and why. Null before that, and for a step without a condition. */
      branch: json(),
      /** Of an item of a map, what the map's `over` returned for it. */
      itemKey: text('item_key'),
      item: json(),
      /** Of a step that joins a map with limited concurrency: the limit, and the index of the next item that waits for its turn. */
      atOnce: integer('at_once'),
      nextItem: integer('next_item'),
      /** Of such a step after an operator's action, if ended items lie between those that wait: their indexes. Then `next_item` is a position in it. */
      itemOrder: integer('item_order').array(),
      /** Its run's priority and its own. Null for 0. */
      priority: integer(),
    },
    (table) => [
      primaryKey({ name: 'workflow_steps_pkey', columns: [table.runId, table.step] }),
      check(
        'workflow_steps_counters_counted',
        sql`least(${table.openDependencies}, ${table.fence}, ${table.failures}, ${table.losses}) >= 0`,
      ),
      // One expression for all statuses, the most frequent first: every write of a step evaluates it.
      check('workflow_steps_fits_status', stepFitsStatus(table)),
    ],
  )
}

/**
 * The ready queue: hints of steps that may be claimed, now or from `available_at` on. The step's own row decides. A row whose `fence` is not the
 * step's is stale, and the claim that meets it removes it. Rows are only inserted and deleted.
 */
export function makeReady(schema: Schema) {
  return schema.table(
    'workflow_ready',
    {
      availableAt: instant('available_at').notNull(),
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      fence: integer().notNull(),
      runId: uuid('run_id').notNull(),
    },
    (table) => [
      // Not a primary key: nothing finds a row by its step, and a second hint for one step does no harm.
      index('workflow_ready_due_idx').on(table.definitionId, table.availableAt, table.runId, table.step),
    ],
  )
}

/**
 * Hints of many ready items at once: of those from `step` on, as many as `items` says. The items of a wide map would otherwise each be written to the
 * queue and removed from it. As there, the steps' own rows decide, and rows are only inserted and deleted.
 */
export function makeReadyItems(schema: Schema) {
  return schema.table(
    'workflow_ready_items',
    {
      availableAt: instant('available_at').notNull(),
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      items: integer().notNull(),
      fence: integer().notNull(),
      runId: uuid('run_id').notNull(),
    },
    (table) => [
      index('workflow_ready_items_due_idx').on(
        table.definitionId,
        table.availableAt,
        table.runId,
        table.step,
      ),
    ],
  )
}
