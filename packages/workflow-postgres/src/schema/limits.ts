import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  doublePrecision,
  index,
  integer,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'

/** Names and keys sort the same in every database, and as in the engine. */
const word = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })

/** How many slots each key of a limit has. */
export function makeLimits(schema: Schema) {
  return schema.table(
    'workflow_limits',
    {
      name: word().primaryKey(),
      /** What the newest worker declared. Null for a limit that was only set. */
      declared: integer(),
      /** Of a rate: its time in milliseconds, and its burst. */
      declaredPerMs: doublePrecision('declared_per_ms'),
      declaredBurst: integer('declared_burst'),
      /** What was set at run time. It goes before what is declared. */
      set: integer('set_to'),
      setPerMs: doublePrecision('set_per_ms'),
      setBurst: integer('set_burst'),
      /** When its numbers last changed, in epoch milliseconds. Each key follows when it is used next: what it keeps of a rate is from before. */
      sinceMs: doublePrecision('since_ms').notNull(),
    },
    (table) => [
      check(
        'workflow_limits_counted',
        sql`coalesce(${table.set}, ${table.declared}) >= 0 and coalesce(${table.declared}, ${table.set}) >= 0`,
      ),
    ],
  )
}

/** The lock under which everything about one key of a limit is decided. There is a row as long as somebody has or wants a slot, and a minute longer. */
export function makeLimitKeys(schema: Schema) {
  return schema.table(
    'workflow_limit_keys',
    {
      /** Grows with each decision: so a transaction that sees an old one fails, whatever its isolation level. */
      turn: bigint({ mode: 'number' }).notNull(),
      /** Of a rate: when its next attempt would begin if it had no burst, in epoch milliseconds. It grows by one interval with each instant given. */
      nextMs: doublePrecision('next_ms'),
      /** Nobody enters before. Epoch milliseconds. */
      closedMs: doublePrecision('closed_ms'),
      /** From then on the row is removed, if nobody has or wants a slot. Epoch milliseconds. */
      keptMs: doublePrecision('kept_ms'),
      /** The `since_ms` of the limit at which its line was last looked at, and `next_ms` written. */
      asOfMs: doublePrecision('as_of_ms'),
      /** When there may be steps to call, in epoch milliseconds; infinite until a slot is freed, null if nobody waits. */
      dueMs: doublePrecision('due_ms'),
      /** Nobody who waits to be called stands before this place. */
      head: bigint({ mode: 'number' }).notNull().default(0),
      limitName: word('limit_name').notNull(),
      key: word().notNull(),
    },
    (table) => [
      primaryKey({ name: 'workflow_limit_keys_pkey', columns: [table.limitName, table.key] }),
      index('workflow_limit_keys_kept_idx').on(table.keptMs).where(sql`${table.keptMs} is not null`),
      index('workflow_limit_keys_due_idx').on(table.dueMs).where(sql`${table.dueMs} < 'Infinity'::float8`),
      index('workflow_limit_keys_line_idx')
        .on(table.limitName, table.asOfMs)
        .where(sql`${table.dueMs} is not null`),
    ],
  )
}

/** One row for each slot that is taken. A slot whose step is not held under its fence any more is void, and freed by whoever finds it. */
export function makeLimitSlots(schema: Schema) {
  return schema.table(
    'workflow_limit_slots',
    {
      runId: uuid('run_id').notNull(),
      /** -1 for a slot of the whole run. */
      step: integer().notNull(),
      /** That of the attempt. 0 for a run. */
      fence: integer().notNull(),
      definitionId: integer('definition_id').notNull(),
      since: instant('since').notNull(),
      /** Of a rate: the instant at which the attempt begins or began, in epoch milliseconds. */
      atMs: doublePrecision('at_ms'),
      /** The `since_ms` of the rate at which the instant was given. */
      asOfMs: doublePrecision('as_of_ms'),
      /** The place that its step had in the line. */
      place: bigint({ mode: 'number' }),
      /** The attempt waits for its instant, and has not entered yet. */
      isGiven: boolean('is_given').notNull(),
      limitName: word('limit_name').notNull(),
      key: word().notNull(),
    },
    (table) => [
      primaryKey({
        name: 'workflow_limit_slots_pkey',
        columns: [table.limitName, table.key, table.runId, table.step],
      }),
      index('workflow_limit_slots_holder_idx').on(table.runId, table.step),
    ],
  )
}

/** One row for each parked step. It stands in one line: that of the first of its limits that had no slot. */
export function makeLimitWaiters(schema: Schema) {
  return schema.table(
    'workflow_limit_waiters',
    {
      runId: uuid('run_id').notNull(),
      step: integer().notNull(),
      fence: integer().notNull(),
      /** First come, first served. A step keeps its place when it moves to another line. */
      place: bigint({ mode: 'number' }).generatedByDefaultAsIdentity(),
      since: instant('since').notNull(),
      /** When it was called: queued, because it may begin. 0 while its run is paused, null as long as it stands in line. Epoch milliseconds. */
      calledMs: doublePrecision('called_ms'),
      limitName: word('limit_name').notNull(),
      key: word().notNull(),
      /** All that the step asks for, in the order of lines. */
      limits: text().array().notNull(),
      keys: text().array().notNull(),
      ofRun: boolean('of_run').array().notNull(),
    },
    (table) => [
      primaryKey({ name: 'workflow_limit_waiters_pkey', columns: [table.runId, table.step] }),
      unique('workflow_limit_waiters_line').on(table.limitName, table.key, table.place),
      index('workflow_limit_waiters_called_idx')
        .on(table.limitName, table.key, table.calledMs)
        .where(sql`${table.calledMs} is not null`),
    ],
  )
}
