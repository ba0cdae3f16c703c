import { BelayError, type StoreNotice } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import type { Migration } from './migration.ts'
import { MIGRATIONS } from './migrations.generated.ts'

interface AppliedMigration {
  readonly tag: string
  /** Null when it was run by hand. */
  readonly hash: string | null
  /**
   * The oldest code that may run on the schema from this migration on, as the number of the last migration which that code knows. Null for
   * migrations from before this rule.
   */
  readonly oldest_code: number | null
}

/** What there is to know before any table is read. Row-level security hides rows without an error. */
const findTable: Statement<{
  readonly is_there: boolean
  readonly encoding: string
  readonly database: string
  readonly hidden: string | null
  readonly user: string
}> = {
  name: null,
  text: `
select coalesce(pg_catalog.bool_or(c.relname = 'workflow_migrations'), false) as is_there,
  pg_catalog.current_setting('server_encoding') as encoding, pg_catalog.current_database()::text as database,
  pg_catalog.string_agg(c.relname::text, ', ' order by c.relname)
    filter (where c.relrowsecurity and pg_catalog.row_security_active(c.oid)) as hidden,
  current_user::text as user
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1::text and c.relkind = 'r' and pg_catalog.starts_with(c.relname, 'workflow_')`,
}

// Through JSON: schemas before migration 0005 have no such column, and it reads as null there.
const readMigrations: Statement<AppliedMigration> = {
  name: null,
  text: `
select m.tag, m.hash, (to_jsonb(m)->>'oldest_code')::int as oldest_code
from belay.workflow_migrations m
order by m.id`,
}

/**
 * The migrations a schema has had, in order; null when it has none of Belay's tables. Throws `store_misconfigured` if the database has another encoding
 * than UTF8, or hides rows of the tables.
 */
export async function readApplied(
  connection: Pick<Connection, 'query'>,
  schema: string,
): Promise<readonly AppliedMigration[] | null> {
  // Asked of the catalog: a failed read would end the transaction that a migration runs in.
  const [table] = await connection.query(findTable, [schema])
  if (table === undefined) return null
  assertUnicode(table)
  if (table.hidden !== null) throw hiddenError(schema, table.user, table.hidden)
  return table.is_there ? connection.query(readMigrations, []) : null
}

/** In any other encoding there are texts that cannot be stored, such as the message of an error: its step could not be recorded. */
function assertUnicode({
  encoding,
  database,
}: {
  readonly encoding: string
  readonly database: string
}): void {
  if (encoding === 'UTF8') return
  throw new BelayError(
    'store_misconfigured',
    `The database "${database}" has the encoding ${encoding}, which cannot store every text.`,
    {
      remedy:
        "Belay needs UTF8: create a database with ENCODING 'UTF8' TEMPLATE template0, and give Belay that one; or move this one there with pg_dump and psql.",
    },
  )
}

function hiddenError(schema: string, user: string, tables: string): BelayError {
  return new BelayError(
    'store_misconfigured',
    `Row-level security hides rows of Belay's tables in schema "${schema}" from user "${user}": ${tables}.`,
    { remedy: 'Turn it off with ALTER TABLE … DISABLE ROW LEVEL SECURITY, or give the user BYPASSRLS.' },
  )
}

/**
 * Throws `schema_missing`, `schema_outdated`, `schema_too_new` or `store_misconfigured` unless this code may run on the schema and the database. Returns the
 * migrations of a newer schema that are unknown to this code, and allow it.
 */
export async function checkSchemaVersion(
  connection: Connection,
  store: { readonly schema: string; readonly remedy: string },
  known: readonly Migration[] = MIGRATIONS,
): Promise<readonly string[]> {
  const { schema, remedy } = store
  const applied = await readApplied(connection, schema)
  if (applied === null) {
    throw new BelayError('schema_missing', `There are no tables of Belay's in schema "${schema}".`, {
      remedy,
    })
  }
  const unknown = checkApplied(applied, schema, known)
  if (applied.length >= known.length) return unknown
  const open = known.slice(applied.length).map(({ tag }) => tag)
  throw new BelayError(
    'schema_outdated',
    `Schema "${schema}" is older than this version of Belay: it lacks ${open.join(', ')}.`,
    { remedy },
  )
}

/**
 * Throws unless what was applied is the beginning of what this code knows, or goes on after it with migrations that allow this code. Returns
 * the latter.
 */
export function checkApplied(
  applied: readonly AppliedMigration[],
  schema: string,
  known: readonly Migration[] = MIGRATIONS,
): readonly string[] {
  for (const [index, migration] of known.slice(0, applied.length).entries()) {
    assertUnedited(applied[index]!, migration, schema)
  }
  const unknown = applied.slice(known.length)
  const newest = known.length - 1
  const refusing = unknown.filter(({ oldest_code }) => oldest_code === null || oldest_code > newest)
  if (refusing.length > 0) throw tooNew(applied, refusing, schema)
  return unknown.map(({ tag }) => tag)
}

/** What a developer is told of a schema that development mode has migrated. */
export function migratedNotice(schema: string, applied: readonly string[]): StoreNotice {
  return {
    level: 'info',
    code: 'schema_migrated',
    message: `Development mode brought schema "${schema}" up to date: it applied ${applied.join(', ')}. With autoMigrate: false it would not have.`,
  }
}

/** What an operator is told of a process that runs on a newer schema. */
export function newerSchemaNotice(schema: string, unknown: readonly string[]): StoreNotice {
  return {
    level: 'info',
    code: 'schema_newer',
    message: `Schema "${schema}" is newer than this version of Belay: it has had ${unknown.join(', ')}. Those migrations allow this version, so this process runs. Update @belay/workflow-postgres in it when the upgrade goes on.`,
  }
}

function assertUnedited({ tag, hash }: AppliedMigration, known: Migration, schema: string): void {
  if (known.tag === tag && (hash === null || known.hash === hash)) return
  throw new BelayError(
    'store_misconfigured',
    `Migration ${tag} of schema "${schema}" is not the one that this version of Belay knows as ${known.tag}: its text was edited.`,
    {
      remedy: 'Install the version that made the schema, or choose another schema with the option "schema".',
    },
  )
}

function tooNew(
  applied: readonly AppliedMigration[],
  refusing: readonly AppliedMigration[],
  schema: string,
): BelayError {
  // A migration that says nothing allows only code that knows it.
  const numbers = refusing.map((migration) => migration.oldest_code ?? applied.indexOf(migration))
  const needed = applied[Math.max(...numbers)] ?? refusing.at(-1)!
  return new BelayError(
    'schema_too_new',
    `Schema "${schema}" is newer than this version of Belay: it has had migration ${refusing[0]!.tag}, which does not allow code this old.`,
    {
      remedy: `Update @belay/workflow-postgres in this process to a version that has migration ${needed.tag}.`,
    },
  )
}
