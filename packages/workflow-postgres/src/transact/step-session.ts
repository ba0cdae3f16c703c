import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { NEEDED_VALUES, ODD, setValues, VALUES } from '../connection/value-settings.ts'

/** The session of a step's transaction when it was lent to the handler. */
export interface StepSession {
  /** The session's user: who logged in, or whose authorization it has. */
  readonly login: string
  readonly role: string
  readonly searchPath: string
}

/** How long one of Belay's own statements in it may take, and wait for one lock, in milliseconds. */
export interface StatementLimits {
  readonly statementMs: number
  readonly lockMs: number
  /** How long the transaction may be idle from now on, in milliseconds. */
  readonly idleMs: number
}

/** The session as the handler left it. */
export interface LeftSession extends StepSession {
  /** JSON: the settings on which the meaning of values depends, by name. */
  readonly values: string
  readonly mark: string | null
  readonly isReadOnly: boolean
  /** Whether Belay has changed the session's settings. Then the handler's settings must be restored before COMMIT. */
  readonly isTakenOver: boolean
  /** Names of the session's prepared statements. */
  readonly prepared: readonly string[]
}

/** Reads what Belay must know of a session to settle in it, whatever its handler sets. A text, because it is part of the transaction's beginning. */
export const READ_SESSION = `select pg_catalog.current_setting('role') as role, session_user::text as login,
  pg_catalog.current_setting('search_path') as path`

export interface SessionRow {
  readonly role: string
  readonly login: string
  readonly path: string
}

export function sessionOf(row: SessionRow): StepSession {
  const { login, role, path: searchPath } = row
  return { login, role, searchPath }
}

/**
 * Sets Belay's limits for a step's settlement, and reads the session as the handler left it. The mark is the one set when the transaction began; it
 * is gone if the transaction has ended meanwhile. Operators are named with their schema: the session may find others first. No tables, no locks.
 *
 * Send this and every statement in this file without its name: the handler may have deallocated the session's prepared statements.
 */
export const readLeftSession: Statement<
  SessionRow & {
    readonly mark: string | null
    readonly values: string
    readonly is_odd: boolean
    readonly is_read_only: boolean
    readonly has_tables: boolean
    readonly prepared: string
  }
> = {
  name: 'read_left_session',
  text: `
select pg_catalog.current_setting('belay_step.mark', true) as mark,
  pg_catalog.current_setting('role') as role,
  session_user::text as login,
  pg_catalog.current_setting('search_path') as path,
  pg_catalog.current_setting('transaction_read_only') operator(pg_catalog.=) 'on' as is_read_only,
  ${VALUES} as values, ${ODD} as is_odd,
  pg_catalog.pg_my_temp_schema() operator(pg_catalog.<>) 0 as has_tables,
  pg_catalog.array_to_json(array(select p.name from pg_catalog.pg_prepared_statement() p))::text as prepared,
  pg_catalog.set_config('statement_timeout', $1::text, true),
  pg_catalog.set_config('lock_timeout', $2::text, true),
  pg_catalog.set_config('idle_in_transaction_session_timeout', $3::text, true)`,
}

/**
 * Takes the session over from the handler: sets the role with which the transaction was begun, a search path with the system's names only, and what
 * values depend on. No tables, no locks.
 */
export const takeOverSession: Statement<object> = {
  name: 'take_over_session',
  text: `
select pg_catalog.set_config('session_authorization', $1::text, true), pg_catalog.set_config('role', $2::text, true),
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), ${setValues('$3')}`,
}

/** Restores the handler's settings for what runs at COMMIT: the application's deferred constraints and triggers. No tables, no locks. */
export const putSessionBack: Statement<object> = {
  name: 'put_session_back',
  text: `
select pg_catalog.set_config('session_authorization', $1::text, true), pg_catalog.set_config('role', $2::text, true),
  pg_catalog.set_config('search_path', $3::text, true), ${setValues('$4')}`,
}

/** Gives Belay control of a step's transaction for its settlement, whatever its handler set. */
export async function takeOver(
  connection: Pick<Connection, 'query'>,
  before: StepSession,
  { statementMs, lockMs, idleMs }: StatementLimits,
): Promise<LeftSession> {
  const [row] = await connection.query(readLeftSession, [statementMs, lockMs, idleMs].map(String))
  const { mark, prepared, values, has_tables: hasTables, is_read_only: isReadOnly, is_odd: isOdd } = row!
  const left = sessionOf(row!)
  const isTakenOver =
    hasTables ||
    left.login !== before.login ||
    left.role !== before.role ||
    left.searchPath !== before.searchPath ||
    isOdd
  if (isTakenOver) await connection.query(takeOverSession, [before.login, before.role, NEEDED_VALUES])
  return { ...left, mark, values, isReadOnly, isTakenOver, prepared: JSON.parse(prepared) }
}

export async function putBack(
  connection: Pick<Connection, 'query'>,
  { login, role, searchPath, values }: Pick<LeftSession, keyof StepSession | 'values'>,
): Promise<void> {
  await connection.query(putSessionBack, [login, role, searchPath, values])
}
