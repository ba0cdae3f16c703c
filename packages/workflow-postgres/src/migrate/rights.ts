import { BelayError } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { quoteIdentifier } from '../schema-name.ts'

interface Rights {
  readonly database: string
  readonly user: string
  readonly may_create_schemas: boolean
  /** Null if there is no such schema. */
  readonly may_create_tables: boolean | null
  /** The owner of the tables, if they are somebody else's. */
  readonly owner: string | null
}

/** What the user may do, by the catalog. No locks. */
const readRights: Statement<Rights> = {
  name: null,
  text: `
select pg_catalog.current_database()::text as database, current_user::text as user,
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create') as may_create_schemas,
  (
    select pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_schema_privilege(n.oid, 'create')
    from pg_catalog.pg_namespace n where n.nspname = $1::text
  ) as may_create_tables,
  (
    select pg_catalog.pg_get_userbyid(c.relowner)::text
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text and c.relname = 'workflow_migrations' and not pg_catalog.pg_has_role(c.relowner, 'usage')
  ) as owner`,
}

/** Throws `store_misconfigured`, with the grant that is missing, unless the user may migrate. Returns whether the schema is there. */
export async function checkRights(connection: Pick<Connection, 'query'>, schema: string): Promise<boolean> {
  const [rights] = await connection.query(readRights, [schema])
  const missing = missingRight(rights!, schema)
  if (missing === undefined) return rights!.may_create_tables !== null
  throw new BelayError('store_misconfigured', `Schema "${schema}" was not migrated: ${missing.what}.`, {
    remedy: missing.remedy,
  })
}

/** Whether the schema is there. Whoever asks may have no rights: others may run what is planned. */
export async function isSchemaThere(connection: Pick<Connection, 'query'>, schema: string): Promise<boolean> {
  const [rights] = await connection.query(readRights, [schema])
  return rights!.may_create_tables !== null
}

function missingRight(
  { database, user, may_create_schemas, may_create_tables, owner }: Rights,
  schema: string,
): { readonly what: string; readonly remedy: string } | undefined {
  const [named, role] = [quoteIdentifier(schema), quoteIdentifier(user)]
  if (may_create_tables === null) {
    if (may_create_schemas) return undefined
    return {
      what: `it does not exist, and user "${user}" may not create schemas in the database "${database}"`,
      remedy: `Let an administrator run: create schema ${named} authorization ${role}; or grant user "${user}" the right: grant create on database ${quoteIdentifier(database)} to ${role}.`,
    }
  }
  if (!may_create_tables) {
    return {
      what: `user "${user}" may not create tables in it`,
      remedy: `Let the owner of the schema run: grant usage, create on schema ${named} to ${role}.`,
    }
  }
  if (owner === null) return undefined
  return {
    what: `its tables belong to user "${owner}", and user "${user}" may not change them`,
    remedy: `Migrate as user "${owner}", or let an administrator run: grant ${quoteIdentifier(owner)} to ${role}.`,
  }
}
