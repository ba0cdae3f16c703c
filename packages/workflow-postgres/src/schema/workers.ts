import { bigint, boolean, check, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'
import { oneOf } from './row-checks.ts'

/** One row per worker process. It carries the lease of every step the worker holds. */
export function makeWorkers(schema: Schema) {
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
export function makeLeases(schema: Schema) {
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
