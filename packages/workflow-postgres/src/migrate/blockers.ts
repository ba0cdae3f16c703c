import { StoreContendedError } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** The advisory lock that one migrating process at a time has. One for every schema of a database: creating a schema twice at once fails. */
export const LOCK_KEY = `hashtextextended('belay:migrate', 0)`

/** Somebody whose transaction may be what a migration waits for. */
export interface Blocker {
  /** Null for a prepared transaction. */
  readonly pid: number | null
  readonly prepared: string | null
  readonly user_name: string | null
  readonly application: string | null
  readonly state: string | null
  readonly seconds: number | null
}

/**
 * Who holds a lock on a table of the schema, or the lock of migrations, in a transaction at least as old as the wait that has just ended. A
 * role without the right to see other sessions' times gets all of them. No locks.
 */
const readBlockers: Statement<Blocker> = {
  name: null,
  text: `
with held_locks as (
  select distinct l.pid, l.virtualtransaction
  from pg_catalog.pg_locks l
  left join pg_catalog.pg_class c on l.locktype = 'relation' and c.oid = l.relation
  left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where l.granted and l.pid is distinct from pg_catalog.pg_backend_pid()
    and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
    and (n.nspname = $1::text
      or l.locktype = 'advisory' and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = ${LOCK_KEY})
),
-- A prepared transaction keeps the virtual id of the session that prepared it, until the server restarts: only the lock of its own id tells both.
prepared_transactions as (
  select l.virtualtransaction, p.gid, p.owner::text as owner, p.prepared
  from pg_catalog.pg_prepared_xacts p
  join pg_catalog.pg_locks l on l.locktype = 'transactionid' and l.transactionid = p.transaction and l.pid is null
)
select h.pid, p.gid as prepared, coalesce(a.usename::text, p.owner) as user_name, nullif(a.application_name, '') as application, a.state,
  extract(epoch from clock_timestamp() - coalesce(a.xact_start, p.prepared))::int as seconds
from held_locks h
left join pg_catalog.pg_stat_activity a on a.pid = h.pid
left join prepared_transactions p on h.pid is null and p.virtualtransaction = h.virtualtransaction
where coalesce(clock_timestamp() - coalesce(a.xact_start, p.prepared) >= $2::int * interval '1 millisecond', true)
order by coalesce(a.xact_start, p.prepared), h.pid`,
}

/** Who may have kept a migration waiting for that long. */
export function findBlockers(
  connection: Connection,
  schema: string,
  waitedMs: number,
): Promise<readonly Blocker[]> {
  return connection.query(readBlockers, [schema, waitedMs])
}

/** `store_contended`: a migration that was given up, because of them. `what` says what was waited for, and how long. */
export function blockedError(
  what: string,
  blockers: readonly Blocker[],
  context: { readonly cause?: unknown } = {},
): StoreContendedError {
  const named = blockers.map(described).join('; ')
  const who =
    named === ''
      ? 'Nobody was found who holds a lock on its tables: whoever it was may have ended since, or be creating the schema.'
      : `Held by: ${named}.`
  const first = named === '' ? '' : `End those transactions (${remedyFor(blockers)}) or wait for their end. `
  return new StoreContendedError(`${what} ${who}`, {
    ...context,
    remedy: `${first}Then call migrate() again.`,
  })
}

/** A prepared transaction has no process that could be ended, and outlives the server's. */
function remedyFor(blockers: readonly Blocker[]): string {
  const remedies = [
    blockers.some(({ pid }) => pid !== null) ? 'select pg_terminate_backend(<process>)' : null,
    blockers.some(({ pid }) => pid === null) ? "rollback prepared '<name>', or commit prepared" : null,
  ]
  return remedies.filter((remedy) => remedy !== null).join('; ')
}

function described({ pid, prepared, user_name, application, state, seconds }: Blocker): string {
  const about = [
    user_name === null ? null : `user ${user_name}`,
    application === null ? null : `application ${application}`,
    state,
    seconds === null ? null : `in a transaction for ${seconds} s`,
  ].filter((part) => part !== null)
  const who =
    pid === null
      ? `the prepared transaction ${prepared === null ? '(unknown)' : `'${prepared}'`}`
      : `process ${pid}`
  return about.length === 0 ? who : `${who} (${about.join(', ')})`
}
