import { BelayError, sentence } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { MIGRATION_TIMEOUT_MS, type Statement } from '../connection/statement.ts'
import { MIGRATIONS } from './migrations.generated.ts'
import { assertUnedited, readApplied } from './schema-version.ts'

/** What a call of `migrate` did. */
export interface MigrationReport {
  /** Migrations that this call applied, in order; empty when the schema was up to date. */
  readonly applied: readonly string[]
}

// One lock for every schema of a database: migrations are rare, and creating a schema twice at once fails.
const takeLock: Statement<never> = {
  name: null,
  text: `select pg_advisory_xact_lock(hashtextextended('belay:migrate', 0))`,
  timeoutMs: MIGRATION_TIMEOUT_MS,
}

// The migration added its own row; what it cannot know is its hash.
const recordHash: Statement<never> = {
  name: null,
  text: 'update belay.workflow_migrations set hash = $2::text where tag = $1::text and hash is null',
}

/**
 * Brings the schema up to this version of Belay, in one transaction under a lock: any number of processes may call it at once.
 * Throws `schema_too_new` when a newer version has been here, and `store_misconfigured` when a migration was edited since.
 */
export async function migrateSchema(connection: Connection, schema: string): Promise<MigrationReport> {
  return connection.transaction(async (transaction) => {
    await transaction.query(takeLock, [])
    const applied = await readApplied(transaction, schema)
    assertUnedited(applied ?? [], schema)
    const open = MIGRATIONS.slice(applied?.length ?? 0)
    if (open.length === 0) return { applied: [] }
    for (const migration of open) {
      await transaction.script(migration.sql).catch((error: unknown) => {
        throw explained(error, migration.tag, schema)
      })
    }
    for (const { tag, hash } of open) await transaction.query(recordHash, [tag, hash])
    return { applied: open.map(({ tag }) => tag) }
  })
}

// Codes of "there is already a …": schema, table, function, object.
const DUPLICATES = new Set(['42P06', '42P07', '42723', '42710'])

function explained(error: unknown, tag: string, schema: string): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (!DUPLICATES.has(code)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new BelayError(
    'store_misconfigured',
    `Migration ${tag} cannot be applied to schema "${schema}": ${sentence(message)} The schema holds something of that name already. Choose another name with the option "schema"; or, if the migrations were run by hand, run the rest of them too.`,
    { cause: error },
  )
}
