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
 * Sets Belay's limits for a step's settlement, and reads what the handler left: its session, and the mark that the transaction was given
 * when it began, unless that has ended meanwhile. No tables, no locks.
 *
 * To be sent without its name, as all of this file: the handler may have thrown the session's prepared statements away.
 */
export const readLeftSession: Statement<
  SessionRow & { readonly mark: string | null; readonly has_tables: boolean; readonly prepared: string }
> = {
  name: 'read_left_session',
  text: `
select pg_catalog.current_setting('belay_step.mark', true) as mark,
  pg_catalog.current_setting('role') as role,
  session_user::text as login,
  pg_catalog.current_setting('search_path') as path,
  pg_catalog.current_setting('transaction_read_only') = 'on' as is_read_only,
  pg_catalog.pg_my_temp_schema() <> 0 as has_tables,
  array_to_json(array(select p.name from pg_catalog.pg_prepared_statement() p))::text as prepared,
  pg_catalog.set_config('statement_timeout', $1::text, true),
  pg_catalog.set_config('lock_timeout', $2::text, true),
  pg_catalog.set_config('idle_in_transaction_session_timeout', $3::text, true)`,
}

/**
 * Takes the session over from the handler: with the role that the transaction was begun with, and a search path on which only the system's
 * names are. No tables, no locks.
 */
export const takeOverSession: Statement<object> = {
  name: 'take_over_session',
  text: `
select pg_catalog.set_config('session_authorization', $1::text, true), pg_catalog.set_config('role', $2::text, true),
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`,
}

/** Puts back what the handler set, for what happens at COMMIT: deferred constraints and triggers of the application. No tables, no locks. */
export const putSessionBack: Statement<object> = {
  name: 'put_session_back',
  text: `
select pg_catalog.set_config('session_authorization', $1::text, true), pg_catalog.set_config('role', $2::text, true),
  pg_catalog.set_config('search_path', $3::text, true)`,
}

/** Makes a step's transaction Belay's for its settlement, whatever its handler set. */
export async function takeOver(
  connection: Pick<Connection, 'query'>,
  before: StepSession,
  { statementMs, lockMs, idleMs }: StatementLimits,
): Promise<LeftSession> {
  const [row] = await connection.query(readLeftSession, [statementMs, lockMs, idleMs].map(String))
  const { mark, prepared, has_tables: hasTables } = row!
  const left = sessionOf(row!)
  const isTakenOver =
    hasTables ||
    left.login !== before.login ||
    left.role !== before.role ||
    left.searchPath !== before.searchPath
  if (isTakenOver) await connection.query(takeOverSession, [before.login, before.role])
  return { ...left, mark, isTakenOver, prepared: JSON.parse(prepared) }
}

export async function putBack(
  connection: Pick<Connection, 'query'>,
  { login, role, searchPath }: StepSession,
): Promise<void> {
  await connection.query(putSessionBack, [login, role, searchPath])
}
