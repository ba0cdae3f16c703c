import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { ODD } from '../connection/value-settings.ts'

/**
 * Identifies a store: its database's name, and when the store was created, in a form that no setting of the session changes. Also tells whether the
 * session is odd. Index: the few rows of the migrations. No locks.
 */
export const readStoreIdentity: Statement<{ readonly identity: string; readonly is_odd: boolean }> = {
  name: 'read_store_identity',
  text: `
select pg_catalog.concat(pg_catalog.current_database(), ' since ', pg_catalog.to_char(m.applied_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')) as identity,
  ${ODD} as is_odd
from belay.workflow_migrations m
order by m.id
limit 1`,
}

/** Whether the session is odd. No tables, no locks. */
export const readIsOdd: Statement<{ readonly is_odd: boolean }> = {
  name: 'read_is_odd',
  text: `select ${ODD} as is_odd`,
}

/**
 * The server's history: its system identifier and its timeline, which a promotion and a recovery to a point in time make anew. No tables, no locks. It
 * fails on a server that recovers, and where the functions are revoked or missing.
 */
export const readTimeline: Statement<{ readonly timeline: string }> = {
  name: 'read_timeline',
  text: `
select s.system_identifier::text || '/' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) as timeline
from pg_catalog.pg_control_system() s`,
}

/** Which of these definitions exist. Index: primary key. No locks. */
export const readKnownDefinitions: Statement<{ readonly id: number }> = {
  name: 'read_known_definitions',
  text: `
select d.id
from unnest($1::int[]) as wanted (id)
join belay.workflow_definitions d on d.id = any (array[wanted.id])`,
}

export async function storeIdentity(connection: Pick<Connection, 'query'>): Promise<string> {
  return (await seenStore(connection)).identity
}

/** The store that a session sees, and whether the session is odd. The identity is empty in a snapshot from before the store. */
export async function seenStore(
  connection: Pick<Connection, 'query'>,
): Promise<{ readonly identity: string; readonly isOdd: boolean }> {
  const [row] = await connection.query(readStoreIdentity, [])
  return { identity: row?.identity ?? '', isOdd: row?.is_odd === true }
}

/** Reads the timeline, or null. Does not ask again where it cannot be read: the server would log an error each time. */
export function timelineReader(connection: Pick<Connection, 'query'>): () => Promise<string | null> {
  let isReadable = true
  return async () => {
    if (!isReadable) return null
    try {
      const [row] = await connection.query(readTimeline, [])
      return row?.timeline ?? null
    } catch (error) {
      isReadable = !isRefused(error)
      return null
    }
  }
}

/** A right, a function or a feature is missing. */
function isRefused(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return [error, cause].some((each) =>
    /^(42501|42883|0A000)$/.test(String((each as { code?: unknown })?.code)),
  )
}

/** Whether all these definitions are stored. */
export async function areKnown(connection: Connection, definitionIds: readonly number[]): Promise<boolean> {
  const distinct = [...new Set(definitionIds)]
  return (await connection.query(readKnownDefinitions, [distinct])).length === distinct.length
}
