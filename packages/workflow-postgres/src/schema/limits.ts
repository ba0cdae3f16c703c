import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
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
      /** What was set at run time. It goes before what is declared. */
      set: integer('set_to'),
    },
    (table) => [
      check(
        'workflow_limits_counted',
        sql`coalesce(${table.set}, ${table.declared}) >= 0 and coalesce(${table.declared}, ${table.set}) >= 0`,
      ),
    ],
  )
}

/** The lock under which everything about one key of a limit is decided. There is a row as long as somebody has or wants a slot. */
export function makeLimitKeys(schema: Schema) {
  return schema.table(
    'workflow_limit_keys',
    {
      /** Grows with each decision: so a transaction that sees an old one fails, whatever its isolation level. */
      turn: bigint({ mode: 'number' }).notNull(),
      limitName: word('limit_name').notNull(),
      key: word().notNull(),
    },
    (table) => [primaryKey({ name: 'workflow_limit_keys_pkey', columns: [table.limitName, table.key] })],
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
      /** That of the attempt, or of the parked step to which the slot was given. 0 for a run. */
      fence: integer().notNull(),
      definitionId: integer('definition_id').notNull(),
      since: instant('since').notNull(),
      /** It was given to a step that waited for it, and has not entered yet. */
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
    ],
  )
}
