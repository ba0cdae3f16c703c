import type { Connection } from '../connection/connection.ts'
import { inSchema } from '../connection/statement.ts'
import { LOCK_KEY } from './blockers.ts'
import { LOCK_TIMEOUT_MS } from './migrate.ts'
import { type Migration, runsOutsideTransaction } from './migration.ts'
import { MIGRATIONS } from './migrations.generated.ts'
import { checkApplied, readApplied } from './schema-version.ts'

/** What a dry run of `migrate` found. */
export interface MigrationPlan {
  /** Always empty: a dry run applies nothing. */
  readonly applied: readonly []
  /** Migrations that `migrate()` would apply, in order. */
  readonly pending: readonly string[]
  /** The same as SQL for the given schema, to be read, or run with `psql -v ON_ERROR_STOP=1 -f`. Empty when nothing is pending. */
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
  return { applied: [], pending: pending.map(({ tag }) => tag), sql: sqlOf(pending, schema) }
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

function grouped(migrations: readonly Migration[]): readonly (readonly Migration[])[] {
  const groups: Migration[][] = []
  let together: Migration[] | undefined
  for (const migration of migrations) {
    if (runsOutsideTransaction(migration)) {
      together = undefined
      groups.push([migration])
    } else if (together === undefined) groups.push((together = [migration]))
    else together.push(migration)
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
