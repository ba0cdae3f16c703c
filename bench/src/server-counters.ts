import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { withClient } from './database.ts'

/** What has been written to Belay's tables so far, by PostgreSQL's own counts. */
export interface Writes {
  readonly updates: number
  /** Updates that touched no index. */
  readonly hot: number
  readonly deletes: number
  /** Dead rows that have not been vacuumed. */
  readonly dead: number
  /** Size of tables and indexes, in bytes. */
  readonly bytes: number
}

const DISCONNECT_TIMEOUT_MS = 10_000

export async function writesOf(url: string): Promise<Writes> {
  const { rows } = await withClient(url, (client) =>
    client.query<Writes>(
      `select sum(n_tup_upd)::float8 as updates, sum(n_tup_hot_upd)::float8 as hot, sum(n_tup_del)::float8 as deletes,
         sum(n_dead_tup)::float8 as dead, sum(pg_total_relation_size(relid))::float8 as bytes
       from pg_stat_user_tables where schemaname = 'belay'`,
    ),
  )
  return rows[0]!
}

/** Bytes of write-ahead log that the server has written since it was created. */
export async function logPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  )
  return rows[0]!.bytes
}

/** Commits in a database so far. Open connections may not have reported theirs yet. */
export async function transactionsOf(client: pg.Client, database: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select xact_commit::float8 as count from pg_stat_database where datname = $1',
    [database],
  )
  return rows[0]!.count
}

/** Waits until a database has no connections except those with the application name `except`. */
export async function untilDisconnected(
  client: pg.Client,
  { database, except = '' }: { database: string; except?: string },
): Promise<void> {
  const until = performance.now() + DISCONNECT_TIMEOUT_MS
  while (performance.now() < until) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = $1 and backend_type = 'client backend' and application_name <> $2`,
      [database, except],
    )
    if (rows[0]!.count === 0) return
    await delay(20)
  }
}
