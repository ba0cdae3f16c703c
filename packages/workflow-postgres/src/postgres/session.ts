import type { ClientBase, QueryConfig, QueryResult } from 'pg'
import { PLAN_SETTINGS, type Setting } from '../connection/plan-settings.ts'
import { ODD, SEARCH_PATH, VALUE_SETTINGS } from '../connection/value-settings.ts'
import { CONNECT_TIMEOUT_MS } from './pool.ts'

/** The known facts about the session that a client uses. */
export interface SessionFacts {
  /** A pooler is in between: each statement may run in any of its sessions, which others also use. */
  readonly isPooled: boolean
  /** The server process of the session. */
  readonly pid: number
  /** When that process began, in microseconds since 1970: a later process may have the same number. */
  readonly since: string
  /** Belay's statements would mean something else there: see {@link ODD}. */
  readonly isOdd: boolean
  /** What the catalog said of the role's and the database's settings when the session was looked at. */
  readonly configured: string | null
}

/**
 * What Belay's statements rely on, whatever the server, the role or the database says. They are written for this isolation level: under a stricter
 * default, they would be repeated for every conflict instead of waiting for it.
 */
const STATEMENT_SETTINGS: readonly Setting[] = [
  ['default_transaction_isolation', `'read committed'`],
  ['default_transaction_read_only', `'off'`],
  ['standard_conforming_strings', `'on'`],
  ['DateStyle', `'ISO, MDY'`],
  ['IntervalStyle', `'postgres'`],
  ['search_path', SEARCH_PATH],
  ...VALUE_SETTINGS,
  ...PLAN_SETTINGS,
]

/** The same as a text to run. */
export const SESSION_SETTINGS = STATEMENT_SETTINGS.map(
  ([name, value]) => `select set_config('${name}', ${value}, false)`,
).join(';\n')

/** The server notices a silently lost client within half a minute, even during a statement. */
const NETWORK_SETTINGS: readonly Setting[] = [
  ['tcp_keepalives_idle', `'10'`],
  ['tcp_keepalives_interval', `'5'`],
  ['tcp_keepalives_count', `'3'`],
  ['tcp_user_timeout', `'30s'`],
  ['client_connection_check_interval', `'10s'`],
]

let areNetworkSettingsKnown = true

const LOCK_TIMEOUT_MS_MAX = 5_000

/** How long a statement may wait for a lock, in milliseconds: long enough for a busy database, but short compared with the statement's limit. */
export function lockTimeoutMs(queryTimeoutMs: number): number {
  return Math.min(LOCK_TIMEOUT_MS_MAX, Math.floor(queryTimeoutMs / 2))
}

/** Sessions of Belay's own pool: the server ends every statement that takes too long. */
export function statementSettings(queryTimeoutMs: number): readonly Setting[] {
  return [
    ...STATEMENT_SETTINGS,
    ['transaction_timeout', `'0'`],
    ['statement_timeout', `'${queryTimeoutMs}ms'`],
    ['lock_timeout', `'${lockTimeoutMs(queryTimeoutMs)}ms'`],
    ['idle_in_transaction_session_timeout', `'${2 * queryTimeoutMs}ms'`],
    ...NETWORK_SETTINGS,
  ]
}

/** Sessions of transactional steps: handlers' statements get the usual plans and have no time limit. */
export const handlerSettings: readonly Setting[] = NETWORK_SETTINGS

/**
 * The lifeline's session. Its commits do not wait for a standby, so renewals continue while other commits wait for a standby that is gone. A renewal
 * lost in a failover only makes the lease expire sooner.
 */
export function lifelineSettings(queryTimeoutMs: number): readonly Setting[] {
  return [
    ...statementSettings(queryTimeoutMs),
    [
      'synchronous_commit',
      `case when pg_catalog.current_setting('synchronous_commit') operator(pg_catalog.=) 'off' then 'off' else 'local' end`,
    ],
  ]
}

/**
 * Finds out which session a client uses and, if the session is the client's own, sets it up. Takes one round trip. Behind a pooler it sets nothing,
 * because others use its sessions too; a pooler tells its clients an invented process number.
 */
export async function prepareSession(
  client: ClientBase,
  settings: readonly Setting[] = [],
  over: { query(config: QueryConfig<unknown[]>): Promise<QueryResult> } = bounded(client),
): Promise<SessionFacts> {
  const ask = (wanted: readonly Setting[]) => over.query({ text: sessionText(processIdOf(client), wanted) })
  const { rows } = await ask(settings).catch((error: unknown) => {
    if (!isSettingRefused(error)) throw error
    // Some systems do not support them. What they guard against is rare there, and the other settings matter more.
    areNetworkSettingsKnown = false
    return ask(settings.filter((setting) => !NETWORK_SETTINGS.includes(setting)))
  })
  const { pid, since, odd, configured } = (rows as readonly SessionRow[])[0]!
  const isPooled = Number(pid) !== processIdOf(client)
  // It was read before the settings of this call were made.
  const isSet = !isPooled && settings.some(([name]) => name === 'array_nulls')
  return { isPooled, pid: Number(pid), since: since ?? '0', isOdd: odd === 'yes' && !isSet, configured }
}

interface SessionRow {
  readonly pid: number | string
  readonly since: string | null
  readonly odd: string
  readonly configured: string | null
}

/** If this fails, the caller that connects closes the connection. */
function bounded(client: ClientBase) {
  return {
    // pg also accepts this timeout for a single query; its types omit it.
    query: (config: QueryConfig<unknown[]>) =>
      client.query({ ...config, query_timeout: CONNECT_TIMEOUT_MS } as QueryConfig<unknown[]>),
  }
}

/** The process number that the server or the pooler sent when the client connected; 0 if the driver does not tell. */
export function processIdOf(client: ClientBase): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0
}

/**
 * Fingerprints what ALTER ROLE … SET and ALTER DATABASE … SET say of a session. A session keeps what they said when it began, whatever they say later.
 * Index: the catalog's primary key.
 */
export const CONFIGURED = `(select pg_catalog.hashtextextended(pg_catalog.string_agg(c::text, ',' order by c.setdatabase, c.setrole), 0)::text
    from pg_catalog.pg_db_role_setting c
    where (c.setdatabase operator(pg_catalog.=) 0 or c.setdatabase operator(pg_catalog.=)
        (select d.oid from pg_catalog.pg_database d where d.datname operator(pg_catalog.=) pg_catalog.current_database()))
      and (c.setrole operator(pg_catalog.=) 0
        or c.setrole operator(pg_catalog.=) pg_catalog.to_regrole(pg_catalog.quote_ident(session_user::text))))`

export const SINCE = '(extract(epoch from a.backend_start) operator(pg_catalog.*) 1000000)::bigint'

function sessionText(processId: number, settings: readonly Setting[]): string {
  // Leaves out settings that the server is too old to know.
  const set = `(select pg_catalog.count(pg_catalog.set_config(s.name, s.value, false))
    from (values ${settings.map(([name, value]) => `('${name}', ${value})`).join(', ')}) s (name, value)
    where pg_catalog.pg_backend_pid() operator(pg_catalog.=) ${processId} and pg_catalog.current_setting(s.name, true) is not null)`
  return `select pg_catalog.pg_backend_pid() as pid,
  (select ${SINCE}::text from pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a) as since,
  case when ${ODD} then 'yes' end as odd, ${CONFIGURED} as configured, ${settings.length === 0 ? '0' : set} as set_up`
}

/** Restores the settings of a handler's session after a reset. */
export function handlerSettingsText(): string {
  const settings = areNetworkSettingsKnown ? handlerSettings : []
  if (settings.length === 0) return 'select 0'
  return `select pg_catalog.count(pg_catalog.set_config(s.name, s.value, false))
    from (values ${settings.map(([name, value]) => `('${name}', ${value})`).join(', ')}) s (name, value)
    where pg_catalog.current_setting(s.name, true) is not null`
}

// Invalid values, and features that a platform lacks.
function isSettingRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22023|0A000)$/.test(String(error.code))
}
