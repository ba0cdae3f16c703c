import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import type { MIGRATIONS } from './migrations.generated.ts'

/** One file of the folder migrations/. */
export type Migration = (typeof MIGRATIONS)[number]

/** What is migrated, to what, and how. */
export interface MigrationTarget {
  readonly connection: Connection
  readonly schema: string
  readonly known: readonly Migration[]
  /** How long a statement waits for a lock. */
  readonly lockTimeoutMs: number
  readonly evenIfWorkersRun: boolean
}

/** A migration adds its own row; what it cannot know is its hash. */
export const recordHash: Statement<never> = {
  name: null,
  text: 'update belay.workflow_migrations set hash = $2::text where tag = $1::text and hash is null',
}

const STOPS_OLDER_CODE = /^-- Stops older code:/
const OUTSIDE_A_TRANSACTION = /^-- Outside a transaction:/m
const BREAKPOINT = /-->\s*statement-breakpoint/

/** Whether its statements must run one by one, each on its own: an index that is built CONCURRENTLY cannot be part of a transaction. */
export function runsOutsideTransaction({ sql }: Pick<Migration, 'sql'>): boolean {
  return OUTSIDE_A_TRANSACTION.test(sql)
}

/** Whether code from before it must not run once it is applied. */
export function stopsOlderCode({ sql }: Pick<Migration, 'sql'>): boolean {
  return STOPS_OLDER_CODE.test(sql)
}

/** The statements of a migration, as drizzle separates them. */
export function statementsOf({ sql }: Pick<Migration, 'sql'>): readonly string[] {
  return sql
    .split(BREAKPOINT)
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

const CREATE_SCHEMA = /^CREATE SCHEMA IF NOT EXISTS "belay";$/m

/** A migration for a schema that is there: even IF NOT EXISTS asks for the right to create schemas. */
export function withoutSchema(migration: Migration): Migration {
  return { ...migration, sql: migration.sql.replace(CREATE_SCHEMA, '-- The schema is there.') }
}
