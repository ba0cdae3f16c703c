import pg from 'pg'
import { type SqlAdapter, sqlAdapter } from '../adapter.ts'
import { poolConnection } from '../connection/pool-connection.ts'
import { checkOptions, isBoolean, isIntegerBetween } from '../options.ts'
import { DEFAULT_SCHEMA } from '../schema.ts'
import { checkSchemaName } from '../schema-name.ts'
import { type ListeningClient, listenNotify } from './listener.ts'
import { addressOf, CONNECT_TIMEOUT_MS, checkUrl, clientConfig, openPool, type PoolSource } from './pool.ts'

/** Where the database is: a url, `pg`'s configuration, or a Pool of the application's, which Belay never ends. */
export type PostgresSource = PoolSource | pg.Pool | undefined

export interface PostgresOptions {
  /** The Postgres schema of Belay's tables. Default `'belay'`. */
  readonly schema?: string | undefined
  /** Bring the schema up to date when the engine starts, instead of by a deployment step. Default false. */
  readonly autoMigrate?: boolean | undefined
  /** Prepare statements by name. Default true; false behind a pooler in transaction mode, like PgBouncer's. */
  readonly prepare?: boolean | undefined
  /** Connections of Belay's own pool. Default 5. */
  readonly connectionsMax?: number | undefined
  /** Listen for work on a connection of its own, instead of only looking at every tick. Default: as `prepare`. */
  readonly listen?: boolean | undefined
  /** How long a statement of Belay's own pool may take, milliseconds. Default 30000. */
  readonly queryTimeoutMs?: number | undefined
}

export interface PostgresAdapter extends SqlAdapter {
  /** The pool Belay uses: the one it was given, or its own, whose sessions plan for Belay's statements only: run others elsewhere. */
  readonly pool: pg.Pool
}

/**
 * Keeps workflows in PostgreSQL 12 or later, over `pg`.
 *
 * @throws BelayError `invalid_option` for an option that doesn't exist or fit, `store_misconfigured` for what is not a url.
 */
export function postgres(source: PostgresSource, options: PostgresOptions = {}): PostgresAdapter {
  checkOptions('postgres()', options, CHECKS)
  const schema = checkSchemaName(options.schema ?? DEFAULT_SCHEMA)
  const prepare = options.prepare ?? true
  const database = isPool(source)
    ? givenPool(source)
    : ownPool(typeof source === 'object' ? source : checkUrl(source), options)
  const connection = poolConnection({ pool: database.pool, schema, prepare, address: database.address })
  surviveErrors(database.pool)
  const wakeup = listenNotify({
    schema,
    connect: (options.listen ?? prepare) ? database.listen : null,
    notify: (channel) => connection.query(sendNotification, [channel]),
  })
  const adapter = sqlAdapter({
    name: 'postgres',
    schema,
    connection,
    wakeup,
    autoMigrate: options.autoMigrate ?? false,
    remedy: `Run migrate() of @belay/workflow-postgres on it, or set the option autoMigrate.`,
    async connect() {},
    async disconnect() {
      await database.end()
    },
  })
  return Object.assign(adapter, { pool: database.pool })
}

const CHECKS = {
  // checkSchemaName says it better.
  schema: () => null,
  autoMigrate: isBoolean,
  prepare: isBoolean,
  connectionsMax: isIntegerBetween(1, 1_000),
  listen: isBoolean,
  queryTimeoutMs: isIntegerBetween(100, 3_600_000),
}

const sendNotification = { name: 'send_notification', text: `select pg_notify($1::text, '')` }

const CONNECTIONS_MAX = 5
const QUERY_TIMEOUT_MS = 30_000

interface Database {
  readonly pool: pg.Pool
  readonly address: ReturnType<typeof addressOf>
  readonly listen: (() => Promise<ListeningClient>) | null
  end(): Promise<void>
}

function ownPool(source: PoolSource, options: PostgresOptions): Database {
  const config = clientConfig(source)
  const address = addressOf(config)
  const pool = openPool(source, {
    connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
    queryTimeoutMs: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
    ownsSessions: options.prepare ?? true,
  })
  return {
    pool,
    address,
    async listen() {
      const client = new pg.Client({
        ...config,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: QUERY_TIMEOUT_MS,
      })
      client.on('error', ignore)
      await client.connect()
      return { client, end: () => client.end() }
    },
    end: () => pool.end(),
  }
}

function givenPool(pool: pg.Pool): Database {
  const { max } = pool.options
  return {
    pool,
    address: addressOf(pool.options),
    // The only connection of a pool must stay free for statements.
    listen: max < 2 ? null : () => listenOn(pool),
    async end() {},
  }
}

async function listenOn(pool: pg.Pool): Promise<ListeningClient> {
  const client = await pool.connect()
  return {
    client,
    // Not to be used again by others: it listens.
    end: async () => client.release(true),
  }
}

const survivors = new WeakSet<pg.Pool>()

/** A pool reports a connection that breaks while idle as an error that ends the process unless somebody listens. It opens another. */
function surviveErrors(pool: pg.Pool): void {
  if (survivors.has(pool)) return
  survivors.add(pool)
  pool.on('error', ignore)
}

function isPool(source: PostgresSource): source is pg.Pool {
  return typeof source === 'object' && 'connect' in source && typeof source.connect === 'function'
}

function ignore() {}
