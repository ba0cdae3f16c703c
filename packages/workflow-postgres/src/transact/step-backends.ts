import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** The backend of a transaction: its process, and when the transaction began, in microseconds, a form that no session setting can change. */
export interface Backend {
  readonly pid: number
  readonly since: string
}

/** Reads a transaction's own backend, whatever operators the session finds. A text, because it is part of the transaction's beginning. */
export const READ_BACKEND = `select pg_catalog.pg_backend_pid() as pid,
  (extract(epoch from pg_catalog.now()) operator(pg_catalog.*) 1000000)::bigint::text as since`

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
 * Terminates the backend of a transaction if it is still in that transaction. Another transaction has another start time: a later one, or that of a
 * pooler's other client. Reads the server's list of backends; no locks.
 */
export const endBackend: Statement<{ readonly is_ended: boolean }> = {
  name: 'end_backend',
  text: `
select pg_catalog.pg_terminate_backend(a.pid) as is_ended
from pg_catalog.pg_stat_activity a
where a.pid = $1::int and (extract(epoch from a.xact_start) * 1000000)::bigint = $2::bigint`,
}

/** The transactions that are no longer open. */
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
