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

/** The mark that a transaction was given when it began, unless that has ended meanwhile. No tables, no locks. */
export const readTransactionMark: Statement<{ readonly mark: string | null }> = {
  name: 'read_transaction_mark',
  text: `select pg_catalog.current_setting('belay_step.mark', true) as mark`,
}

export async function storeIdentity(connection: Pick<Connection, 'query'>): Promise<string> {
  const [row] = await connection.query(readStoreIdentity, [])
  return row?.identity ?? ''
}

export async function transactionMark(connection: Pick<Connection, 'query'>): Promise<string | null> {
  const [row] = await connection.query(readTransactionMark, [])
  return row?.mark ?? null
}
