import { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import type { DatabaseAddress } from '../errors.ts'

/** What tells where the database is: a url, or `pg`'s own configuration. */
export type PoolSource = string | pg.PoolConfig

export interface PoolOptions {
  readonly connectionsMax: number
  /** Left out for statements of others, which may take their time. */
  readonly queryTimeoutMs?: number
  /** False behind a pooler in transaction mode, where a session's settings would leak to others. */
  readonly ownsSessions: boolean
}

// How long to wait for a connection, the wait for a free one in the pool included.
export const CONNECT_TIMEOUT_MS = 10_000

// A firewall that drops idle connections does so silently: probe before it thinks of it.
const KEEP_ALIVE_MS = 10_000

/**
 * Belay's statements look rows up by primary key, however few or many the statistics claim there are. With these, plans that were made
 * when a table was empty are still right when it holds millions. The isolation is the one the statements are written for: under a
 * stricter one of the database's, they would be repeated for every conflict instead of waiting for it.
 */
export const SESSION_SETTINGS = `
set default_transaction_isolation = 'read committed';
set plan_cache_mode = force_generic_plan;
set enable_seqscan = off;
set enable_hashjoin = off;
set enable_mergejoin = off;
set enable_bitmapscan = off;
set jit = off`

export function openPool(source: PoolSource, options: PoolOptions): pg.Pool {
  return new pg.Pool({
    ...clientConfig(source),
    max: options.connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    ...(options.ownsSessions ? { onConnect: (client) => client.query(SESSION_SETTINGS) } : {}),
  })
}

/** `pg`'s configuration of one connection. */
export function clientConfig(source: PoolSource): pg.ClientConfig {
  const config = typeof source === 'string' ? { connectionString: source } : source
  return {
    fallback_application_name: 'belay',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...config,
  }
}

/** Where a configuration leads, the PG* environment variables included. Throws `store_misconfigured` for what is not a url. */
export function addressOf(config: pg.ClientConfig): DatabaseAddress {
  const { host, port, database, user } = unconnectedClient(config)
  return { host, port, database: database ?? '', user: user ?? '' }
}

function unconnectedClient(config: pg.ClientConfig): pg.Client {
  try {
    return new pg.Client(config)
  } catch {
    // Neither the text nor the error it caused: both hold the password.
    throw new BelayError(
      'store_misconfigured',
      'The connection string given to postgres() is not a url. It looks like postgres://user:password@host:5432/database; special characters in the password are percent-encoded.',
    )
  }
}

/** Checks what was given as a url, without repeating it: it may hold a password. */
export function checkUrl(url: string | undefined): string {
  if (url === undefined || url === '') {
    throw new BelayError(
      'store_misconfigured',
      'postgres() was given no connection string. Is the environment variable set? It looks like postgres://user:password@host:5432/database.',
    )
  }
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new BelayError(
    'store_misconfigured',
    'The connection string given to postgres() does not start with postgres:// or postgresql://. It looks like postgres://user:password@host:5432/database.',
  )
}
