import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { quoteIdentifier } from '../schema-name.ts'
import { LOCK_KEY } from './blockers.ts'
import { type Migration, type MigrationTarget, recordHash, statementsOf } from './migration.ts'
import { readApplied } from './schema-version.ts'

type Session = Pick<Connection, 'query' | 'script'>

// Of the session, since there is no transaction. It is gone with the session, whatever becomes of this process.
const takeLock: Statement<{ readonly is_taken: boolean }> = {
  name: null,
  text: `select pg_try_advisory_lock(${LOCK_KEY}) as is_taken`,
}

const releaseLock: Statement<unknown> = { name: null, text: `select pg_advisory_unlock(${LOCK_KEY})` }

/** What an index that was built concurrently leaves when it is interrupted: it is kept up, and never used. */
const findInvalidIndexes: Statement<{ readonly name: string }> = {
  name: null,
  text: `
select c.relname::text as name
from pg_catalog.pg_index i
join pg_catalog.pg_class c on c.oid = i.indexrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1::text and not i.indisvalid`,
}

/**
 * Runs the statements of one migration one by one, outside any transaction, in one session. What an interrupted try has left is removed
 * first, so each statement must bear being repeated (IF NOT EXISTS). Returns what it applied. `busy`: another process is migrating.
 */
export async function applyOutside(
  { connection, schema }: MigrationTarget,
  migration: Migration,
): Promise<readonly string[] | 'busy'> {
  if (connection.session === undefined) {
    throw new Error('A migration that must run outside a transaction was begun inside of one.')
  }
  return connection.session(async (session) => {
    const [lock] = await session.query(takeLock, [])
    if (lock?.is_taken !== true) return 'busy'
    try {
      const applied = await readApplied(session, schema)
      if (applied?.some(({ tag }) => tag === migration.tag) === true) return []
      await dropInvalidIndexes(session, schema, migration)
      for (const statement of statementsOf(migration)) await session.script(statement)
      await session.query(recordHash, [migration.tag, migration.hash])
      return [migration.tag]
    } finally {
      await session.query(releaseLock, []).catch(() => {})
    }
  })
}

async function dropInvalidIndexes(session: Session, schema: string, { sql }: Migration): Promise<void> {
  for (const { name } of await session.query(findInvalidIndexes, [schema])) {
    // Somebody else's index that is being built is invalid, too.
    if (sql.includes(quoteIdentifier(name)))
      await session.script(`drop index concurrently if exists "belay".${quoteIdentifier(name)}`)
  }
}
