import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  pgSchema,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant } from '../schema/columns.ts'
import { DEFAULT_SCHEMA } from '../schema-name.ts'

// The tables of the new engine, beside those of today until it takes their place. drizzle-kit makes the baseline migration of this module’s exports.
// No foreign keys, and no index on a status: a hot write changes one page and can stay on it. Payloads are `json`, which keeps the very text.

export const belay = pgSchema(DEFAULT_SCHEMA)

/** One row per (name, version), never changed. Its number follows from its content. */
export const workflowDefinitions = belay.table(
  'workflow_definitions',
  {
    id: integer().primaryKey(),
    version: integer().notNull(),
    createdAt: instant('created_at').notNull(),
    name: text().notNull(),
    checksum: text().notNull(),
    shape: json().notNull(),
  },
  (table) => [unique('workflow_definitions_name_version_key').on(table.name, table.version)],
)

/** One row per run: written at its start, when it turns (stops, is paused) and at its end. The root of its units stands in `state`. */
export const workflowRuns = belay.table(
  'workflow_runs',
  {
    id: uuid().primaryKey(),
    definitionId: integer('definition_id').notNull(),
    priority: integer().notNull(),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
    startAt: instant('start_at'),
    deadlineAt: instant('deadline_at'),
    paused: boolean().notNull().default(false),
    /** Something in it waits for an operator. */
    parked: boolean().notNull().default(false),
    /** Of a run that has ended: the last fence of an owner. */
    fence: integer(),
    status: text().notNull(),
    workflow: text().notNull(),
    key: text(),
    inputHash: text('input_hash'),
    tags: text().array(),
    parentRunId: uuid('parent_run_id'),
    parentUnit: integer('parent_unit'),
    detached: boolean(),
    input: json(),
    cause: json(),
    /** What only the engine reads. */
    state: json(),
  },
  (table) => [
    uniqueIndex('workflow_runs_workflow_key_key')
      .on(table.workflow, table.key)
      .where(sql`${table.key} is not null`),
  ],
)

/** One row per run that has not ended: who owns it, and when somebody must look. */
export const workflowLive = belay.table(
  'workflow_live',
  {
    runId: uuid('run_id').primaryKey(),
    definitionId: integer('definition_id').notNull(),
    owner: integer(),
    fence: integer().notNull(),
    /** By how many minutes it goes before others, once it is due. */
    lead: integer().notNull(),
    /** Its rows do not say that it has begun. */
    begun: boolean().notNull().default(false),
    /** Its owner was declared dead. */
    lost: boolean().notNull().default(false),
    /** Infinity: only mail wakes it. */
    due: instant('due').notNull(),
    /** Order among what is due. Null until a sweep gives it. */
    place: instant('place'),
  },
  (table) => [
    index('workflow_live_due_idx')
      .on(table.definitionId, table.due)
      .where(sql`${table.owner} is null and ${table.place} is null`),
    index('workflow_live_place_idx')
      .on(table.definitionId, table.place)
      .where(sql`${table.owner} is null and ${table.place} is not null`),
    index('workflow_live_owner_idx').on(table.owner).where(sql`${table.owner} is not null`),
  ],
)

/** One row per unit of a run: a step, an item, a round. */
export const workflowSteps = belay.table(
  'workflow_steps',
  {
    runId: uuid('run_id').notNull(),
    unit: integer().notNull(),
    scope: integer().notNull(),
    attempt: integer().notNull().default(0),
    failures: integer().notNull().default(0),
    losses: integer().notNull().default(0),
    round: integer().notNull().default(1),
    index: integer(),
    workerId: integer('worker_id'),
    due: instant('due'),
    startedAt: instant('started_at'),
    finishedAt: instant('finished_at'),
    status: text().notNull(),
    name: text(),
    label: text(),
    undoAttempt: integer('undo_attempt'),
    undoFailures: integer('undo_failures'),
    undoLosses: integer('undo_losses'),
    undoDue: instant('undo_due'),
    undoStartedAt: instant('undo_started_at'),
    undoFinishedAt: instant('undo_finished_at'),
    state: json(),
    item: json(),
    output: json(),
    error: json(),
    undoError: json('undo_error'),
  },
  (table) => [primaryKey({ name: 'workflow_steps_pkey', columns: [table.runId, table.unit] })],
)

/** An event for a run from somebody who does not own it. */
export const workflowMail = belay.table(
  'workflow_mail',
  {
    sequence: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    runId: uuid('run_id').notNull(),
    /** The worker that owned the run when the mail was sent. */
    seen: integer(),
    reopens: boolean().notNull().default(false),
    sentAt: instant('sent_at').notNull(),
    appliedAt: instant('applied_at'),
    key: text().notNull(),
    event: json(),
    payload: json(),
    answer: json(),
  },
  (table) => [
    unique('workflow_mail_run_id_key_key').on(table.runId, table.key),
    index('workflow_mail_new_idx').on(table.runId, table.sequence).where(sql`${table.appliedAt} is null`),
    index('workflow_mail_seen_idx').on(table.seen, table.sequence).where(sql`${table.appliedAt} is null`),
  ],
)

/** One row per identity of a worker, with its lease. */
export const workflowWorkers = belay.table(
  'workflow_workers',
  {
    number: integer().primaryKey().generatedAlwaysAsIdentity(),
    epoch: integer().notNull().default(1),
    slots: integer().notNull(),
    busy: integer().notNull().default(0),
    alive: boolean().notNull().default(true),
    leaseExpiresAt: instant('lease_expires_at').notNull(),
    startedAt: instant('started_at').notNull(),
    renewedAt: instant('renewed_at').notNull(),
    id: uuid().notNull(),
    name: text().notNull(),
    host: text(),
    definitionIds: integer('definition_ids').array().notNull(),
  },
  (table) => [unique('workflow_workers_id_key').on(table.id)],
)
