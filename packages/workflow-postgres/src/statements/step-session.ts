import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** The session of a step's transaction as it was lent to the handler. */
export interface StepSession {
  /** Who logged in, or whose authorization the session has. */
  readonly login: string
  readonly role: string
  readonly searchPath: string
  readonly isReadOnly: boolean
}

/** How long Belay's own statements in it may take, milliseconds, and wait for one lock. */
export interface StatementLimits {
  readonly statementMs: number
  readonly lockMs: number
  /** How long it may be idle from now on. */
  readonly idleMs: number
}

/** What the handler left of the session. */
export interface LeftSession extends StepSession {
  readonly mark: string | null
  /** Whether Belay took over with settings of its own, so that the handler's are to be put back before COMMIT. */
  readonly isTakenOver: boolean
  /** Names of the session's prepared statements. */
  readonly prepared: readonly string[]
}

/** What must be known of a session to settle in it, whatever its handler sets. As text, to be part of a transaction's beginning. */
export const READ_SESSION = `select pg_catalog.current_setting('role') as role, session_user::text as login,
  pg_catalog.current_setting('search_path') as path, pg_catalog.current_setting('transaction_read_only') = 'on' as is_read_only`

export interface SessionRow {
  readonly role: string
  readonly login: string
  readonly path: string
  readonly is_read_only: boolean
}

export function sessionOf(row: SessionRow): StepSession {
  const { login, role, path: searchPath, is_read_only: isReadOnly } = row
  return { login, role, searchPath, isReadOnly }
}

/**
 * Takes a step's transaction over from its handler, for its settlement: under the role it was begun with, under limits of Belay's, and,
 * where the handler changed it or has temporary tables, with a search path on which only the system's names are. Returns what the handler
 * left, and the mark that the transaction was given when it began, unless that has ended meanwhile. No tables, no locks.
 *
 * Without a name, since the handler may have thrown the session's prepared statements away.
 */
export const takeOverSession: Statement<
  SessionRow & { readonly mark: string | null; readonly is_taken_over: boolean; readonly prepared: string }
> = {
  name: null,
  text: `
with found as materialized (
  select pg_catalog.current_setting('belay_step.mark', true) as mark,
    pg_catalog.current_setting('role') as role,
    session_user::text as login,
    pg_catalog.current_setting('search_path') as path,
    pg_catalog.current_setting('transaction_read_only') = 'on' as is_read_only,
    pg_catalog.pg_my_temp_schema() <> 0 as has_tables,
    (select coalesce(pg_catalog.json_agg(p.name), '[]')::text from pg_catalog.pg_prepared_statements p) as prepared
)
select f.mark, f.role, f.login, f.path, f.is_read_only, f.prepared,
  f.login <> $1::text or f.role <> $2::text or f.path <> $3::text or f.has_tables as is_taken_over,
  pg_catalog.set_config('statement_timeout', $4::text, true),
  pg_catalog.set_config('lock_timeout', $5::text, true),
  pg_catalog.set_config('idle_in_transaction_session_timeout', $6::text, true),
  case when f.login <> $1::text then pg_catalog.set_config('session_authorization', $1::text, true) end,
  case when f.login <> $1::text or f.role <> $2::text then pg_catalog.set_config('role', $2::text, true) end,
  case when f.path <> $3::text or f.has_tables then pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) end
from found f`,
}

/** Puts back what the handler set, for what happens at COMMIT: deferred constraints and triggers of the application. */
export const putSessionBack: Statement<object> = {
  name: null,
  text: `
select case when session_user::text <> $1::text then pg_catalog.set_config('session_authorization', $1::text, true) end,
  pg_catalog.set_config('role', $2::text, true), pg_catalog.set_config('search_path', $3::text, true)`,
}

export async function takeOver(
  connection: Pick<Connection, 'query'>,
  { login, role, searchPath }: StepSession,
  { statementMs, lockMs, idleMs }: StatementLimits,
): Promise<LeftSession> {
  const limits = [statementMs, lockMs, idleMs].map(String)
  const [row] = await connection.query(takeOverSession, [login, role, searchPath, ...limits])
  const { mark, is_taken_over: isTakenOver, prepared } = row!
  return { ...sessionOf(row!), mark, isTakenOver, prepared: JSON.parse(prepared) }
}

export async function putBack(
  connection: Pick<Connection, 'query'>,
  { login, role, searchPath }: StepSession,
): Promise<void> {
  await connection.query(putSessionBack, [login, role, searchPath])
}
