import type { ClientBase, PoolClient } from 'pg'
import type { HandlerGuard } from '../transact/handler-guard.ts'
import { CONFIGURED, handlerSettingsText, type SessionFacts } from './session.ts'

/**
 * A connection serves one step after another. What a handler leaves in its session must not reach the next one: settings, roles, temporary tables,
 * cursors, locks of the session, prepared statements.
 *
 * Sessions of Belay's own pool are reset, and closed if the role or the database has other settings by now. Sessions of an application's Pool may have settings that only the application can make again: they are
 * compared with their earlier state, and closed if it has changed.
 */
export interface LentSessions {
  /** A query sent before the session is lent, together with the transaction's beginning. */
  readonly before: string
  /** Whether the session must be closed instead of being lent. */
  isStale(client: PoolClient, before: SessionTrace): boolean
  /** Gives a connection back to its pool, or closes it. Nobody waits for it. */
  giveBack(
    client: PoolClient,
    lent: { readonly before: SessionTrace; readonly guard: HandlerGuard },
  ): Promise<void>
}

/** What a query can tell about a session. */
export interface SessionTrace {
  readonly session: string | null
  /** JSON: names of prepared statements. */
  readonly prepared: string
}

const PREPARED = `pg_catalog.array_to_json(array(select p.name from pg_catalog.pg_prepared_statement() p))::text`

/** The role comes first, so that the rest is permitted. Listening and advisory locks belong to the session, not to the transaction. */
const resetText =
  () => `reset session authorization; reset role; reset all; close all; unlisten *; discard temp;
${handlerSettingsText()};
select pg_catalog.pg_advisory_unlock_all();
select '' as session, ${PREPARED} as prepared`

/**
 * Sessions that belong to Belay. A reset brings back what the role and the database said when the session began, which an administrator may have
 * corrected since: such a session is not lent again.
 */
export function ownSessions(limitMs: number, known: WeakMap<object, SessionFacts>): LentSessions {
  return {
    before: `select ${CONFIGURED} as session, '[]' as prepared`,
    isStale(client, { session }) {
      const facts = known.get(client)
      return facts?.isPooled === false && facts.configured !== session
    },
    async giveBack(client, { guard }) {
      const after = guard.hasFailed ? null : await ask(client, resetText(), limitMs)
      const known = knownStatements(client)
      const isReset = after !== null && (known === null || isSame(namesOf(after), known))
      release(client, isReset)
    },
  }
}

// Settings that a handler may change by calling a function. Those that it changes by a statement are found in the statement's text.
const SETTINGS = [
  'role',
  'search_path',
  'statement_timeout',
  'lock_timeout',
  'default_transaction_isolation',
  'default_transaction_read_only',
  'default_transaction_deferrable',
  'TimeZone',
  'DateStyle',
  'IntervalStyle',
  'bytea_output',
  'client_encoding',
  'extra_float_digits',
  'array_nulls',
  'standard_conforming_strings',
  'quote_all_identifiers',
  'xmloption',
  'row_security',
  'session_replication_role',
  'plan_cache_mode',
  'jit',
  'synchronous_commit',
]

const TRACE = `select pg_catalog.json_build_array(session_user, ${SETTINGS.map((name) => `pg_catalog.current_setting('${name}')`).join(', ')},
  (select pg_catalog.count(*) from pg_catalog.pg_cursor() c where c.is_holdable), pg_catalog.pg_my_temp_schema(),
  (select pg_catalog.count(*) from pg_catalog.pg_listening_channels()))::text as session, ${PREPARED} as prepared`

/** Sessions of an application's Pool. */
export function applicationSessions(limitMs: number): LentSessions {
  return {
    before: TRACE,
    isStale: () => false,
    async giveBack(client, { before, guard }) {
      const after = guard.leavesTraces || guard.hasFailed ? null : await ask(client, TRACE, limitMs)
      release(client, after !== null && after.session === before.session && areInStep(client, before, after))
    },
  }
}

async function ask(client: ClientBase, text: string, limitMs: number): Promise<SessionTrace | null> {
  try {
    // pg returns one result per statement, and accepts the limit for a single query. Its types omit both.
    const query: { text: string; query_timeout: number } = { text, query_timeout: limitMs }
    const answered: unknown = await client.query(query)
    const last = Array.isArray(answered) ? answered.at(-1) : answered
    return (last as { rows: SessionTrace[] }).rows[0] ?? null
  } catch {
    return null
  }
}

/** Whether the session still has the statements that pg believes to be prepared, and none that the handler prepared itself. */
function areInStep(client: ClientBase, before: SessionTrace, after: SessionTrace): boolean {
  const known = knownStatements(client)
  if (known === null) return isSame(namesOf(before), namesOf(after))
  const [had, has] = [namesOf(before), namesOf(after)]
  const isKept = [...known].every((name) => has.has(name))
  return isKept && [...has].every((name) => known.has(name) || had.has(name))
}

/**
 * Whether Belay's statements may be sent by name: pg must be right about which of them are prepared in the session. A handler may have deallocated
 * them.
 */
export function mayUseNames(client: ClientBase, prepared: readonly string[]): boolean {
  const known = knownStatements(client)
  if (known === null) return false
  const own = (names: Iterable<string>) => new Set([...names].filter((name) => name.startsWith('belay_')))
  return isSame(own(known), own(prepared))
}

/** The statements that pg believes to be prepared; null if the client does not tell. */
function knownStatements(client: ClientBase): ReadonlySet<string> | null {
  const { connection } = client as { connection?: { parsedStatements?: Readonly<Record<string, string>> } }
  return connection?.parsedStatements === undefined ? null : new Set(Object.keys(connection.parsedStatements))
}

function namesOf({ prepared }: SessionTrace): ReadonlySet<string> {
  return new Set(JSON.parse(prepared) as string[])
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name))
}

function release(client: PoolClient, isGood: boolean): void {
  client.release(!isGood)
}
