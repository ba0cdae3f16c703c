import { ENDS } from '@belay/workflow/adapter'
import { bigint, boolean, check, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { oneOf } from './row-checks.ts'

/** Signals and decisions that runs have received, by the sender's key, which makes sending one twice harmless. */
export function makeSignals(schema: Schema) {
  return schema.table(
    'workflow_signals',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      /**
       * 0 for the signal that the step has. A step that asks anew gives its signal up: then the signal is superseded, and numbered from 1 within the
       * step. From then on the same key may be sent again.
       */
      superseded: integer().notNull().default(0),
      receivedAt: instant('received_at').notNull(),
      key: text().notNull(),
      /** A hash of the payload as its sender gave it, before its schema changed anything. Null in rows written before this column existed. */
      payloadHash: text('payload_hash'),
      /** Who decided, for an approval. */
      actor: text(),
      payload: json(),
    },
    (table) => [
      primaryKey({
        name: 'workflow_signals_pkey',
        columns: [table.runId, table.step, table.key, table.superseded],
      }),
    ],
  )
}

/** What operators did to runs: who, when, why, and what changed. Rows are only inserted, and pruned with their run. */
export function makeHistory(schema: Schema) {
  return schema.table(
    'workflow_history',
    {
      runId: uuid('run_id').notNull(),
      id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
      at: instant('at').notNull(),
      step: integer(),
      action: text().notNull(),
      actor: text(),
      reason: text(),
      change: json(),
    },
    (table) => [primaryKey({ name: 'workflow_history_pkey', columns: [table.runId, table.id] })],
  )
}

/**
 * Ends of runs that report them, until whatever follows from them has been done. Written by a trigger of `workflow_runs`, so that no statement can end
 * a run without it. Deleted when done.
 */
export function makeRunEnds(schema: Schema) {
  return schema.table(
    'workflow_run_ends',
    {
      sequence: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
      runId: uuid('run_id').notNull(),
      definitionId: integer('definition_id').notNull(),
      status: text().notNull(),
    },
    (table) => [
      primaryKey({ name: 'workflow_run_ends_pkey', columns: [table.definitionId, table.sequence] }),
      index('workflow_run_ends_run_idx').on(table.runId),
      check('workflow_run_ends_status_allowed', oneOf(table.status, ENDS)),
    ],
  )
}

/** One row per ended attempt, if attempts are kept. Rows are only inserted, and pruned with their run. */
export function makeAttempts(schema: Schema) {
  return schema.table(
    'workflow_attempts',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      fence: integer().notNull(),
      round: integer().notNull(),
      attempt: integer().notNull(),
      undo: boolean().notNull(),
      workerId: uuid('worker_id'),
      startedAt: instant('started_at'),
      finishedAt: instant('finished_at').notNull(),
      /** How it ended, a word like `completed`. */
      ended: text().notNull(),
      error: json(),
    },
    (table) => [
      primaryKey({ name: 'workflow_attempts_pkey', columns: [table.runId, table.step, table.fence] }),
    ],
  )
}

/**
 * What steps tell while they run: of each key the latest value that each step gave it, and under the key '' the step's progress. A table of its own,
 * so that runs which tell nothing have no wider rows. Pruned with its run.
 */
export function makeValues(schema: Schema) {
  return schema.table(
    'workflow_values',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      /** With `sequence`, the order of the values that a step gave a key. */
      fence: integer().notNull(),
      sequence: integer().notNull(),
      /** When the step gave the value: it orders the values that different steps gave a key. */
      at: instant('at').notNull(),
      key: text().notNull(),
      value: json().notNull(),
    },
    (table) => [primaryKey({ name: 'workflow_values_pkey', columns: [table.runId, table.step, table.key] })],
  )
}
