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

/** The default Postgres schema of Belay's tables. The migrations are written with this name. */
export const DEFAULT_SCHEMA = 'belay'

/**
 * Belay's tables in the given Postgres schema, for drizzle queries.
 *
 * Payloads are `json`, not `jsonb`: they are stored unchanged, are cheaper to write, and keep `\u0000` in strings. Fixed, narrow columns come first,
 * so that reading a hot one never skips over a payload.
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

/** The edges of each definition, in both directions, so that SQL can join the graph instead of interpreting it. */
function makeDefinitionSteps(schema: Schema) {
  return schema.table(
    'workflow_definition_steps',
    {
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      name: text().notNull(),
      dependencies: integer().array().notNull(),
      dependents: integer().array().notNull(),
      /** What the step waits for, like `approval`; null for a step that only works. */
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

/** One row per run. No foreign key here or to here: if many transactions share the lock on one row, Postgres makes MultiXacts. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table, with its columns, indexes and checks.
function makeRuns(schema: Schema) {
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

/**
 * One row per step per run, and no index but the primary key: a hot write then changes one page and can stay on it. `workflow_ready` holds what may
 * be claimed. A status index here would also mislead the planner.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table, with its columns and checks.
function makeSteps(schema: Schema) {
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
      // Not a primary key: nothing finds a row by its step, and a second hint for one step does no harm.
      index('workflow_ready_due_idx').on(table.definitionId, table.availableAt, table.runId, table.step),
    ],
  )
}

/** Signals and decisions that runs have received, by the sender's key, which makes sending one twice harmless. */
function makeSignals(schema: Schema) {
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

/** One row per ended attempt, if attempts are kept. Rows are only inserted, and pruned with their run. */
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
      /** How many handlers it runs at once at most, and how many ran at its last renewal. */
      slots: integer(),
      busy: integer(),
      /** At its last renewal: how many of the steps that it knew of it had held for longer than one lease. */
      known: integer(),
      host: text(),
      /** The definitions for which it has handlers. */
      definitionIds: integer('definition_ids').array(),
      /** Whether `workflow_leases` has all its leases. False for workers that registered before this journal existed. */
      journaled: boolean().notNull().default(false),
      /** For a dead worker without a journal: how far writing one for it has come; null before that begins. */
      journaledThrough: uuid('journaled_through'),
    },
    (table) => [check('workflow_workers_status_allowed', oneOf(table.status, ['live', 'dead']))],
  )
}

/**
 * The journal of leases: the runs in which a worker may hold steps. Each statement that first leases a step of a run to a worker writes one row. So
 * the worker's steps are found without reading every live run. Rows are only inserted and deleted.
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

// drizzle-kit generates the migrations from this module's exports.
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
