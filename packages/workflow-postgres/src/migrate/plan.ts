import type { Connection } from '../connection/connection.ts'
import { inSchema } from '../connection/statement.ts'
import { LOCK_KEY } from './blockers.ts'
import { LOCK_TIMEOUT_MS } from './migrate.ts'
import { type Migration, runsOutsideTransaction, stopsOlderCode, withoutSchema } from './migration.ts'
import { MIGRATIONS } from './migrations.generated.ts'
import { isSchemaThere } from './rights.ts'
import { checkApplied, readApplied } from './schema-version.ts'

/** What a dry run of `migrate` found. */
export interface MigrationPlan {
  /** Always empty: a dry run applies nothing. */
  readonly applied: readonly []
  /** Migrations that `migrate()` would apply, in order. */
  readonly pending: readonly string[]
  /** Those of them that stop older code: all workers must be stopped first. Empty for a new schema, which nobody uses yet. */
  readonly stopsOlderCode: readonly string[]
  /** What is pending as SQL for the given schema, to be read, or run with `psql -v ON_ERROR_STOP=1 -f`. Empty when nothing is pending. */
  readonly sql: string
}

/** Tells what `migrateSchema` would do. Reads, and writes nothing. Throws what it would throw for a schema that does not fit. */
export async function planMigration(
  connection: Connection,
  schema: string,
  known: readonly Migration[] = MIGRATIONS,
): Promise<MigrationPlan> {
  const applied = (await readApplied(connection, schema)) ?? []
  checkApplied(applied, schema, known)
  const pending = known.slice(applied.length)
  const isThere = await isSchemaThere(connection, schema)
  const stopping = applied.length === 0 ? [] : pending.filter(stopsOlderCode)
  return {
    applied: [],
    pending: pending.map(({ tag }) => tag),
    stopsOlderCode: stopping.map(({ tag }) => tag),
    sql: sqlOf(isThere ? pending.map(withoutSchema) : pending, schema),
  }
}

/** Migrations as one text: what follows each other is one transaction, as `migrate()` has it. */
function sqlOf(pending: readonly Migration[], schema: string): string {
  const text = grouped(pending).map((group) => {
    const isOutside = runsOutsideTransaction(group[0]!)
    const migrations = group.map(({ tag, sql }) => `-- Migration ${tag}.\n\n${sql.trim()}`)
    // Last: the table that remembers migrations is made by one of them.
    const all = [...migrations, ...group.map(hashText)].join('\n\n')
    return isOutside ? all : `${BEGIN}\n\n${all}\n\nCOMMIT;`
  })
  return text.length === 0 ? '' : inSchema(`${text.join('\n\n')}\n`, schema)
}

/** What is one transaction together, and alone what must not be part of one. */
function grouped(migrations: readonly Migration[]): readonly (readonly Migration[])[] {
  const groups: Migration[][] = []
  for (const [index, migration] of migrations.entries()) {
    const previous = migrations[index - 1]
    const isAlone = previous === undefined || [previous, migration].some(runsOutsideTransaction)
    if (isAlone) groups.push([migration])
    else groups.at(-1)!.push(migration)
  }
  return groups
}

const BEGIN = `BEGIN;
-- Everybody who wants a table waits behind whoever waits for its lock. When this is what ends it, run the file again.
SET LOCAL lock_timeout = '${LOCK_TIMEOUT_MS}ms';
SELECT pg_advisory_xact_lock(${LOCK_KEY});`

function hashText({ tag, hash }: Migration): string {
  return `UPDATE "belay"."workflow_migrations" SET hash = '${hash}' WHERE tag = '${tag}' AND hash IS NULL;`
}
