import { FORWARD_STATUSES, LIVE_STATUSES } from '@belay/workflow/adapter'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { oneOf, runFitsStatus, STOPPED_ENDS, stepFitsStatus } from './row-checks.ts'

/** The Postgres schema Belay's tables live in unless the user chooses another. Also the name the migrations are written with. */
export const DEFAULT_SCHEMA = 'belay'

/**
 * Belay's tables in the given Postgres schema, for drizzle queries on them.
 *
 * Payloads are `json`, not `jsonb`: stored as they came, cheaper to write, and `\u0000` in a string survives.
 * Fixed, narrow columns come first, so that reading a hot one never walks over a payload.
 */
export function makeTables(schemaName: string) {
  const schema = pgSchema(schemaName)
  return {
    schema,
    definitions: makeDefinitions(schema),
    definitionSteps: makeDefinitionSteps(schema),
    runs: makeRuns(schema),
    steps: makeSteps(schema),
    ready: makeReady(schema),
    signals: makeSignals(schema),
    history: makeHistory(schema),
    attempts: makeAttempts(schema),
    workers: makeWorkers(schema),
    leases: makeLeases(schema),
  }
}

type Schema = ReturnType<typeof pgSchema>

/** One row per (name, version), never changed: runs are pinned to it. */
function makeDefinitions(schema: Schema) {
  return schema.table(
    'workflow_definitions',
    {
      id: integer().primaryKey().generatedAlwaysAsIdentity(),
      version: integer().notNull(),
      createdAt: instant('created_at').notNull(),
      name: text().notNull(),
      checksum: text().notNull(),
      shape: json().notNull(),
    },
    (table) => [
      unique('workflow_definitions_name_version_key').on(table.name, table.version),
      check('workflow_definitions_version_allowed', sql`${table.version} >= 1`),
    ],
  )
}

/** The edges of each definition, in both directions, so that SQL joins the graph instead of interpreting it. */
function makeDefinitionSteps(schema: Schema) {
  return schema.table(
    'workflow_definition_steps',
    {
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      name: text().notNull(),
      dependencies: integer().array().notNull(),
      dependents: integer().array().notNull(),
      /** What the step waits for, like `approval`; null for one that works. */
      kind: text(),
    },
    (table) => [
      primaryKey({ name: 'workflow_definition_steps_pkey', columns: [table.definitionId, table.step] }),
      index('workflow_definition_steps_approval_idx')
        .on(table.definitionId, table.step)
        .where(sql`${table.kind} = 'approval'`),
    ],
  )
}

/** One row per run. No foreign key points here or from here: many sharers of one row make MultiXacts. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table, with its columns, indexes and checks.
function makeRuns(schema: Schema) {
  return schema.table(
    'workflow_runs',
    {
      id: uuid().primaryKey(),
      definitionId: integer('definition_id').notNull(),
      /** Going forward the sinks that are open; in an undo the undos that are open. The run ends at zero. */
      openSteps: integer('open_steps').notNull(),
      createdAt: instant('created_at').notNull(),
      finishedAt: instant('finished_at'),
      status: text().notNull(),
      /** When it may begin; null for at once. Its first steps are queued for this time. */
      startAt: instant('start_at'),
      /** When it fails unless it has ended by then. */
      deadlineAt: instant('deadline_at'),
      /** Why the run stopped going forward: `failure`, `cancellation`, or `abandonment`, which is a cancellation that undoes nothing. */
      stop: text(),
      /** How the run ends once its undo is done; null until the undo begins, so a stopped run without it is draining. */
      endsAs: text('ends_as'),
      workflow: text().notNull(),
      key: text(),
      /** Of a run with a key: a hash of the input as its caller gave it, before its schema changed anything. */
      inputHash: text('input_hash'),
      /** What it is found by, beside its key; null for none. */
      tags: text().array(),
      /**
       * The time in its id is minutes away from `created_at`, by a starter's clock or since the id is no time-ordered one. Null for no: such runs
       * are found by their time of creation without an index for it, by id.
       */
      stray: boolean(),
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
      // What is new waits in a list that is merged by whoever fills it: a short one, since that starter and every reader have to go through it.
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

/**
 * One row per step per run, and no index but the primary key: a hot write then touches one page and can stay on it.
 * What may be claimed is in `workflow_ready`; a status index here would also mislead the planner.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table, with its columns and checks.
function makeSteps(schema: Schema) {
  return schema.table(
    'workflow_steps',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      openDependencies: integer('open_dependencies').notNull(),
      /** Fences what is late: grows with every claim, forward and undo, and every move. Nothing else is read from it. */
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
      /** Of a step that is ready or waiting: when it is due, by a retry's delay or a timer. Null for at once, or for a wait without end. */
      availableAt: instant('available_at'),
      /** When the step first began to wait. */
      waitingSince: instant('waiting_since'),
      /** When the signal came that this step waits for, or will wait for; its payload is in `output`. */
      signalledAt: instant('signalled_at'),
      /** When the first of the newest series of failed attempts began; kept when the series has ended. */
      failingSince: instant('failing_since'),
      /**
       * Whether a handler of an attempt that did not complete has begun. Null when nobody recorded it: then a step that was claimed counts as
       * begun. Written only when an attempt is given back, fails or is lost.
       */
      begun: boolean(),
      /** Its handler returned, and what it returned cannot be stored: its effect is there, although it failed. */
      succeeded: boolean(),
      /** Which effect of the step this is, from 1: it grows when a step that was undone is run again, and is part of its idempotency key. */
      round: integer().notNull().default(1),
      /** Attempts of this round, forward. Null of rows from before they were counted. */
      attempts: integer().default(0),
      /** The same as of the forward attempts, of its undo; null until that begins. */
      undoAttempts: integer('undo_attempts'),
      undoFailures: integer('undo_failures'),
      undoLosses: integer('undo_losses'),
      undoStartedAt: instant('undo_started_at'),
      undoFinishedAt: instant('undo_finished_at'),
      /** An operator took the undo for done. */
      undoSkipped: boolean('undo_skipped'),
      undoError: json('undo_error'),
    },
    (table) => [
      primaryKey({ name: 'workflow_steps_pkey', columns: [table.runId, table.step] }),
      check(
        'workflow_steps_counters_counted',
        sql`least(${table.openDependencies}, ${table.fence}, ${table.failures}, ${table.losses}) >= 0`,
      ),
      // One expression for all, the most frequent first: every write of a step pays for it.
      check('workflow_steps_fits_status', stepFitsStatus(table)),
    ],
  )
}

/**
 * The ready queue: hints of what may be claimed, now or from `available_at` on. The step's row is the truth; a row whose `fence` is
 * not the step's any more is stale, and the claim that meets it removes it. Rows are only inserted and deleted.
 */
function makeReady(schema: Schema) {
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
      // Not a primary key: nothing looks a row up by its step, and a second hint for one step does no harm.
      index('workflow_ready_due_idx').on(table.definitionId, table.availableAt, table.runId, table.step),
    ],
  )
}

/** Signals and decisions that runs have received, by the sender's key: what makes sending one twice harmless. */
function makeSignals(schema: Schema) {
  return schema.table(
    'workflow_signals',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      /**
       * 0 for the signal that the step has. A step that asks anew gives its signal up: then it is superseded, and numbered from 1 by step. The
       * same key may be sent again from then on.
       */
      superseded: integer().notNull().default(0),
      receivedAt: instant('received_at').notNull(),
      key: text().notNull(),
      /** A hash of the payload as its sender gave it, before its schema changed anything. Null of rows from before there was one. */
      payloadHash: text('payload_hash'),
      /** Who decided, for a gate that people decide. */
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

/** What operators did to runs: who, when, why, and what changed by it. Rows are only inserted, and pruned with their run. */
function makeHistory(schema: Schema) {
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

/** One row per attempt that has ended, where attempts are kept. Rows are only inserted, and pruned with their run. */
function makeAttempts(schema: Schema) {
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

/** One row per worker process. It carries the lease of every step the worker holds. */
function makeWorkers(schema: Schema) {
  return schema.table(
    'workflow_workers',
    {
      id: uuid().primaryKey(),
      leaseExpiresAt: instant('lease_expires_at').notNull(),
      startedAt: instant('started_at').notNull(),
      /** How far the search for a dead worker's steps has come; null before it begins. */
      sweptThrough: uuid('swept_through'),
      status: text().notNull(),
      name: text().notNull(),
      renewedAt: instant('renewed_at'),
      /** Handlers it runs at once at most, and how many ran when it last renewed. */
      slots: integer(),
      busy: integer(),
      /** Of the steps it knew that it held, at its last renewal, how many it had held for longer than one lease. */
      known: integer(),
      host: text(),
      /** What it has handlers for. */
      definitionIds: integer('definition_ids').array(),
      /** Every lease it got is in `workflow_leases`. False of workers that registered before there was such a journal. */
      journaled: boolean().notNull().default(false),
      /** How far the runs that a dead worker without a journal holds have been written into one; null before that begins. */
      journaledThrough: uuid('journaled_through'),
    },
    (table) => [check('workflow_workers_status_allowed', oneOf(table.status, ['live', 'dead']))],
  )
}

/**
 * In which runs a worker may hold steps: the journal of its leases. Each statement by which a run comes to a worker writes one row, so that
 * what the worker holds is found without reading every live run. Rows are only inserted and deleted.
 */
function makeLeases(schema: Schema) {
  return schema.table(
    'workflow_leases',
    {
      workerId: uuid('worker_id').notNull(),
      id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
      runIds: uuid('run_ids').array().notNull(),
    },
    (table) => [primaryKey({ name: 'workflow_leases_pkey', columns: [table.workerId, table.id] })],
  )
}

function instant(name: string) {
  return timestamp(name, { withTimezone: true, mode: 'date' })
}

const defaultTables = makeTables(DEFAULT_SCHEMA)

// drizzle-kit generates the migrations from what this module exports.
export const belay = defaultTables.schema
export const workflowDefinitions = defaultTables.definitions
export const workflowDefinitionSteps = defaultTables.definitionSteps
export const workflowRuns = defaultTables.runs
export const workflowSteps = defaultTables.steps
export const workflowReady = defaultTables.ready
export const workflowSignals = defaultTables.signals
export const workflowHistory = defaultTables.history
export const workflowAttempts = defaultTables.attempts
export const workflowWorkers = defaultTables.workers
export const workflowLeases = defaultTables.leases
