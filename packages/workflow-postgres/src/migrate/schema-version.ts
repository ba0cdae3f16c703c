import { BelayError } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { MIGRATIONS } from './migrations.generated.ts'

interface AppliedMigration {
  readonly tag: string
  /** Null when it was run by hand. */
  readonly hash: string | null
}

const findTable: Statement<{ readonly is_there: boolean }> = {
  name: null,
  text: `
select exists (
  select from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1::text and c.relname = 'workflow_migrations'
) as is_there`,
}

const readMigrations: Statement<AppliedMigration> = {
  name: null,
  text: 'select tag, hash from belay.workflow_migrations order by id',
}

/** The migrations a schema has had, in order; null when it has none of Belay's tables. */
export async function readApplied(
  connection: Connection,
  schema: string,
): Promise<readonly AppliedMigration[] | null> {
  // Asked of the catalog: a failed read would end the transaction that a migration runs in.
  const [table] = await connection.query(findTable, [schema])
  return table?.is_there === true ? connection.query(readMigrations, []) : null
}

/** Throws `schema_missing`, `schema_outdated`, `schema_too_new` or `store_misconfigured` unless the schema is this code's. */
export async function checkSchemaVersion(
  connection: Connection,
  store: { readonly schema: string; readonly remedy: string },
): Promise<void> {
  const { schema, remedy } = store
  const applied = await readApplied(connection, schema)
  if (applied === null) {
    throw new BelayError('schema_missing', `There are no tables of Belay's in schema "${schema}". ${remedy}`)
  }
  assertUnedited(applied, schema)
  if (applied.length === MIGRATIONS.length) return
  const open = MIGRATIONS.slice(applied.length).map(({ tag }) => tag)
  throw new BelayError(
    'schema_outdated',
    `Schema "${schema}" is older than this version of Belay: it lacks ${open.join(', ')}. ${remedy}`,
  )
}

/** Throws unless what was applied is the beginning of what this code knows. */
export function assertUnedited(applied: readonly AppliedMigration[], schema: string): void {
  for (const [index, { tag, hash }] of applied.entries()) {
    const known = MIGRATIONS[index]
    if (known === undefined) {
      throw new BelayError(
        'schema_too_new',
        `Schema "${schema}" is newer than this version of Belay: it has had migration ${tag}, which is not known here. Update @belay/workflow-postgres in this process.`,
      )
    }
    if (known.tag !== tag || (hash !== null && known.hash !== hash)) {
      throw new BelayError(
        'store_misconfigured',
        `Migration ${tag} of schema "${schema}" is not the one that this version of Belay knows as ${known.tag}: its text was edited. Install the version that made the schema, or choose another schema with the option "schema".`,
      )
    }
  }
}
