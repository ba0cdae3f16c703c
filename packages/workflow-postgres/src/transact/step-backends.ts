import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** The backend of a transaction: its process, and when the transaction began, in microseconds, so that no session writes it its own way. */
export interface Backend {
  readonly pid: number
  readonly since: string
}

/** Tells a transaction its own backend. As text, to be part of its beginning. */
export const READ_BACKEND = `select pg_catalog.pg_backend_pid() as pid, (extract(epoch from pg_catalog.now()) * 1000000)::bigint::text as since`

/** Which of these transactions are still open. Reads the server's list of backends; no locks. */
export const findBackends: Statement<{ readonly pid: number }> = {
  name: 'find_backends',
  text: `
select wanted.pid
from unnest($1::int[], $2::bigint[]) as wanted (pid, since)
where exists (
  select from pg_catalog.pg_stat_activity a
  where a.pid = wanted.pid and (extract(epoch from a.xact_start) * 1000000)::bigint = wanted.since
)`,
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
where a.pid = $1::int and (extract(epoch from a.xact_start) * 1000000)::bigint = $2::bigint`,
}

/** Those of the transactions that are open no more. */
export async function goneBackends<Watched extends Backend>(
  connection: Pick<Connection, 'query'>,
  backends: readonly Watched[],
): Promise<readonly Watched[]> {
  const rows = await connection.query(findBackends, [
    backends.map(({ pid }) => pid),
    backends.map(({ since }) => since),
  ])
  const open = new Set(rows.map(({ pid }) => pid))
  return backends.filter(({ pid }) => !open.has(pid))
}
