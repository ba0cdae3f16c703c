import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** What tells one store from others: its database's name, and the instant it was made. Index: the few rows of the migrations. No locks. */
export const readStoreIdentity: Statement<{ readonly identity: string }> = {
  name: 'read_store_identity',
  text: `
select pg_catalog.current_database() || ' since ' || m.applied_at::text as identity
from belay.workflow_migrations m
order by m.id
limit 1`,
}

/**
 * The mark that a transaction was given when it began, unless that has ended meanwhile; and, unless null, how long it may be idle from now
 * on, milliseconds. No tables, no locks.
 */
export const readTransactionMark: Statement<{ readonly mark: string | null }> = {
  name: 'read_transaction_mark',
  text: `
select pg_catalog.current_setting('belay_step.mark', true) as mark,
  case when $1::text is not null
    then pg_catalog.set_config('idle_in_transaction_session_timeout', $1::text, true)
  end as idle_timeout`,
}

/** Which of these definitions there are. Index: primary key. No locks. */
export const readKnownDefinitions: Statement<{ readonly id: number }> = {
  name: 'read_known_definitions',
  text: `
select d.id
from unnest($1::int[]) as wanted (id)
join belay.workflow_definitions d on d.id = any (array[wanted.id])`,
}

/**
 * Ends the backend of a transaction, if that is still the one it is in. Reads the server's list of backends; no locks. What is of a later
 * transaction, or behind a pooler of another client, has another start.
 */
export const endBackend: Statement<{ readonly is_ended: boolean }> = {
  name: 'end_backend',
  text: `
select pg_catalog.pg_terminate_backend(a.pid) as is_ended
from pg_catalog.pg_stat_activity a
where a.pid = $1::int and a.xact_start = $2::timestamptz`,
}

export async function storeIdentity(connection: Pick<Connection, 'query'>): Promise<string> {
  const [row] = await connection.query(readStoreIdentity, [])
  return row?.identity ?? ''
}

export async function transactionMark(
  connection: Pick<Connection, 'query'>,
  idleTimeoutMs: number | null,
): Promise<string | null> {
  const [row] = await connection.query(readTransactionMark, [idleTimeoutMs?.toString() ?? null])
  return row?.mark ?? null
}

/** Tells whether all these definitions are stored. */
export async function areKnown(connection: Connection, definitionIds: readonly number[]): Promise<boolean> {
  const distinct = [...new Set(definitionIds)]
  return (await connection.query(readKnownDefinitions, [distinct])).length === distinct.length
}
