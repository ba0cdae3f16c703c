import type { ClientBase, QueryConfig, QueryResult } from 'pg'
import { CONNECT_TIMEOUT_MS } from './pool.ts'

/** What is known of the session that a client leads to. */
export interface SessionFacts {
  /** A pooler stands in between: the client's statements may run in any of its sessions, which others use too. */
  readonly isPooled: boolean
  /** The process of the server. */
  readonly pid: number
  /** When that process began, microseconds since 1970: a later process may have the same number. */
  readonly since: string
}

/** A setting's name, and an SQL expression of its value. */
export type Setting = readonly [name: string, value: string]

/**
 * Belay's statements look rows up by primary key, however few or many the statistics claim there are. With these, plans that were made
 * when a table was empty are still right when it holds millions. The isolation is the one the statements are written for: under a
 * stricter one of the database's, they would be repeated for every conflict instead of waiting for it.
 */
const STATEMENT_SETTINGS: readonly Setting[] = [
  ['default_transaction_isolation', `'read committed'`],
  ['plan_cache_mode', `'force_generic_plan'`],
  ['enable_seqscan', `'off'`],
  ['enable_hashjoin', `'off'`],
  ['enable_mergejoin', `'off'`],
  ['enable_bitmapscan', `'off'`],
  ['jit', `'off'`],
]

/** The same as a text to run. */
export const SESSION_SETTINGS = STATEMENT_SETTINGS.map(([name, value]) => `set ${name} = ${value}`).join(
  ';\n',
)

/** A client that is gone without a word is noticed by the server within half a minute, even in the middle of a statement. */
const NETWORK_SETTINGS: readonly Setting[] = [
  ['tcp_keepalives_idle', `'10'`],
  ['tcp_keepalives_interval', `'5'`],
  ['tcp_keepalives_count', `'3'`],
  ['tcp_user_timeout', `'30s'`],
  ['client_connection_check_interval', `'10s'`],
]

let areNetworkSettingsKnown = true

const LOCK_TIMEOUT_MS_MAX = 5_000

/** How long a statement waits for a lock at most: long enough for what is busy, and short beside the whole statement's limit. */
export function lockTimeoutMs(queryTimeoutMs: number): number {
  return Math.min(LOCK_TIMEOUT_MS_MAX, Math.floor(queryTimeoutMs / 2))
}

/** Sessions of Belay's own pool: every statement ends by itself, on the server. */
export function statementSettings(queryTimeoutMs: number): readonly Setting[] {
  return [
    ...STATEMENT_SETTINGS,
    ['statement_timeout', `'${queryTimeoutMs}ms'`],
    ['lock_timeout', `'${lockTimeoutMs(queryTimeoutMs)}ms'`],
    ['idle_in_transaction_session_timeout', `'${2 * queryTimeoutMs}ms'`],
    ...NETWORK_SETTINGS,
  ]
}

/** Sessions of transactional steps: handlers' statements are planned as everywhere else, and take the time they need. */
export const handlerSettings: readonly Setting[] = NETWORK_SETTINGS

/**
 * The session of the lifeline. A renewed lease needs no standby: one that is lost in a failover is only over sooner. So renewals go
 * through while commits wait for a standby that is gone.
 */
export function lifelineSettings(queryTimeoutMs: number): readonly Setting[] {
  return [
    ...statementSettings(queryTimeoutMs),
    [
      'synchronous_commit',
      `case current_setting('synchronous_commit') when 'off' then 'off' else 'local' end`,
    ],
  ]
}

/**
 * Learns what session a client leads to and, if it is the client's own, sets it up: in one round trip, and nothing at all where a pooler
 * stands in between, whose sessions others use too. A pooler makes up the number of the process that it tells its clients.
 */
export async function prepareSession(
  client: ClientBase,
  settings: readonly Setting[] = [],
  over: { query(config: QueryConfig<unknown[]>): Promise<QueryResult> } = bounded(client),
): Promise<SessionFacts> {
  const ask = (wanted: readonly Setting[]) => over.query({ text: sessionText(processIdOf(client), wanted) })
  const { rows } = await ask(settings).catch((error: unknown) => {
    if (!isSettingRefused(error)) throw error
    // Some systems don't know them; what they guard against is rare there, and the rest matters more.
    areNetworkSettingsKnown = false
    return ask(settings.filter((setting) => !NETWORK_SETTINGS.includes(setting)))
  })
  const { pid, since } = (rows as readonly { pid: number | string; since: string | null }[])[0]!
  return { isPooled: Number(pid) !== processIdOf(client), pid: Number(pid), since: since ?? '0' }
}

/** Whoever connects closes the connection when this fails. */
function bounded(client: ClientBase) {
  return {
    // pg takes the timeout for a single query too, which its types don't say.
    query: (config: QueryConfig<unknown[]>) =>
      client.query({ ...config, query_timeout: CONNECT_TIMEOUT_MS } as QueryConfig<unknown[]>),
  }
}

/** The process that the server, or the pooler, named when the client connected; 0 for a driver that doesn't say. */
export function processIdOf(client: ClientBase): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0
}

export const SINCE = '(extract(epoch from a.backend_start) * 1000000)::bigint'

function sessionText(processId: number, settings: readonly Setting[]): string {
  // Settings that the server is too old to know are left out.
  const set = `(select pg_catalog.count(pg_catalog.set_config(s.name, s.value, false))
    from (values ${settings.map(([name, value]) => `('${name}', ${value})`).join(', ')}) s (name, value)
    where pg_catalog.pg_backend_pid() = ${processId} and pg_catalog.current_setting(s.name, true) is not null)`
  return `select pg_catalog.pg_backend_pid() as pid,
  (select ${SINCE}::text from pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a) as since,
  ${settings.length === 0 ? '0' : set} as set_up`
}

/** Makes the settings of handlers' sessions again in one that was reset. */
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
