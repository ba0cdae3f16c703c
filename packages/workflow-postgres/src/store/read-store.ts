import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Identifies a store: its database's name, and when the store was created. Index: the few rows of the migrations. No locks. */
export const readStoreIdentity: Statement<{ readonly identity: string }> = {
  name: 'read_store_identity',
  text: `
select pg_catalog.current_database() || ' since ' || m.applied_at::text as identity
from belay.workflow_migrations m
order by m.id
limit 1`,
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
  const [row] = await connection.query(readStoreIdentity, [])
  return row?.identity ?? ''
}

/** Whether all these definitions are stored. */
export async function areKnown(connection: Connection, definitionIds: readonly number[]): Promise<boolean> {
  const distinct = [...new Set(definitionIds)]
  return (await connection.query(readKnownDefinitions, [distinct])).length === distinct.length
}
