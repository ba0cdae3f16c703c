import { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import { type SqlAdapter, sqlAdapter } from '../adapter.ts'
import { connectWithin } from '../connection/connect-within.ts'
import { poolConnection } from '../connection/pool-connection.ts'
import { checkOptions, isBoolean, isIntegerBetween } from '../options.ts'
import { DEFAULT_SCHEMA } from '../schema.ts'
import { checkSchemaName } from '../schema-name.ts'
import { givenClients } from './given-client.ts'
import { applicationSessions, ownSessions } from './lent-session.ts'
import { type ListeningClient, listenNotify } from './listener.ts'
import { addressOf, CONNECT_TIMEOUT_MS, checkUrl, clientConfig, openPool, type PoolSource } from './pool.ts'
import { postgresTransact, type TransactParts } from './transact.ts'

/** Where the database is: a url, `pg`'s configuration, or a Pool of the application's, which Belay never ends. */
export type PostgresSource = PoolSource | pg.Pool | undefined

export interface PostgresOptions {
  /** The Postgres schema of Belay's tables. Default `'belay'`. */
  readonly schema?: string | undefined
  /** Bring the schema up to date when the engine starts, instead of by a deployment step. Default false. */
  readonly autoMigrate?: boolean | undefined
  /** Prepare statements by name. Default true; false behind a pooler in transaction mode, like PgBouncer's. */
  readonly prepare?: boolean | undefined
  /** Connections of Belay's own, the one that listens included; a single one never listens. Default 5. */
  readonly connectionsMax?: number | undefined
  /** Listen for work on a connection of its own, instead of only looking at every tick. Default: as `prepare`. */
  readonly listen?: boolean | undefined
  /** How long a statement of Belay's own pool may take, milliseconds. Default 30000. */
  readonly queryTimeoutMs?: number | undefined
  /**
   * Transactional steps whose handlers run at once, each on a connection of its own, beside `connectionsMax`. Of a Pool of the application's
   * they take at most all but one, and all but two while Belay listens on it. Default 5.
   */
  readonly transactionsMax?: number | undefined
  /**
   * How long the transaction of a step may be open without a statement before the database ends it, milliseconds: a process that hangs must
   * not keep what it has locked. Default 60000.
   */
  readonly transactionIdleTimeoutMs?: number | undefined
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
  const listens = (options.listen ?? prepare) && database.listen !== null
  const wakeup = listenNotify({
    schema,
    connect: listens ? database.listen : null,
    notify: (channel, within = connection) => within.query(sendNotification, [channel]),
  })
  const max = options.transactionsMax ?? TRANSACTIONS_MAX
  const { pool, address } = database
  const limitMs = Math.min(options.queryTimeoutMs ?? QUERY_TIMEOUT_MS, CONNECT_TIMEOUT_MS)
  const transactions = database.transactions({ max, listens, limitMs })
  const given = givenClients({ schema, address, pool, connection, remedy: REMEDY, limitMs })
  const adapter = sqlAdapter({
    name: 'postgres',
    schema,
    connection,
    given: given.connectionOf,
    hasFree: () => hasFree(pool),
    transact: postgresTransact({
      schema,
      prepare,
      address: database.address,
      connection,
      idleTimeoutMs: options.transactionIdleTimeoutMs ?? TRANSACTION_IDLE_TIMEOUT_MS,
      limitMs,
      watchEveryMs: Math.min(limitMs, WATCH_EVERY_MS),
      ...transactions,
    }),
    wakeup,
    autoMigrate: options.autoMigrate ?? false,
    remedy: REMEDY,
    async connect() {},
    onOpen: given.open,
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
  transactionsMax: isIntegerBetween(1, 1_000),
  transactionIdleTimeoutMs: isIntegerBetween(100, 86_400_000),
}

const sendNotification = { name: 'send_notification', text: `select pg_notify($1::text, '')` }

const REMEDY = 'Run migrate() of @belay/workflow-postgres on it, or set the option autoMigrate.'
const CONNECTIONS_MAX = 5
const QUERY_TIMEOUT_MS = 30_000
const TRANSACTIONS_MAX = 5
const WATCH_EVERY_MS = 5_000
const TRANSACTION_IDLE_TIMEOUT_MS = 60_000

interface Database {
  readonly pool: pg.Pool
  readonly address: ReturnType<typeof addressOf>
  readonly listen: (() => Promise<ListeningClient>) | null
  /** Where the transactions of steps get their connections from, and how many there can be. */
  transactions(options: {
    readonly max: number
    readonly listens: boolean
    readonly limitMs: number
  }): Pick<TransactParts, 'max' | 'connect' | 'sessions'>
  end(): Promise<void>
}

function ownPool(source: PoolSource, options: PostgresOptions): Database {
  const config = clientConfig(source)
  const address = addressOf(config)
  const connectionsMax = options.connectionsMax ?? CONNECTIONS_MAX
  const listens = (options.listen ?? options.prepare ?? true) && connectionsMax > 1
  const pool = openPool(source, {
    connectionsMax: connectionsMax - Number(listens),
    queryTimeoutMs: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
    ownsSessions: options.prepare ?? true,
  })
  // Of its own: handlers' statements are planned as everywhere else, and a slow one must not hold up the engine's.
  let stepPool: pg.Pool | undefined
  return {
    pool,
    address,
    listen: listens ? listen : null,
    transactions({ max, limitMs }) {
      const own = () => openPool(source, { connectionsMax: max, ownsSessions: false })
      return {
        max,
        // What an application does to each new connection could not be done again after a reset.
        sessions: 'onConnect' in config ? applicationSessions(limitMs) : ownSessions(limitMs),
        connect() {
          if (stepPool === undefined) {
            stepPool = own()
            surviveErrors(stepPool)
          }
          return connectWithin(stepPool, limitMs)
        },
      }
    },
    async end() {
      await Promise.all([pool.end(), stepPool?.end()])
    },
  }

  async function listen(): Promise<ListeningClient> {
    const client = new pg.Client({
      ...config,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    })
    client.on('error', ignore)
    await client.connect()
    return { client, end: () => client.end() }
  }
}

function givenPool(pool: pg.Pool): Database {
  const { max } = pool.options
  return {
    pool,
    address: addressOf(pool.options),
    // The only connection of a pool must stay free for statements.
    listen: max < 2 ? null : () => listenOn(pool),
    transactions({ max: transactionsMax, listens, limitMs }) {
      // Renewals and settlements must never wait for a handler.
      const spare = max - 1 - Number(listens)
      const connect = async () => {
        if (spare < 1) throw tooFewConnections(max, listens)
        return connectWithin(pool, limitMs)
      }
      const sessions = applicationSessions(limitMs)
      return { max: Math.max(1, Math.min(transactionsMax, spare)), sessions, connect }
    },
    async end() {},
  }
}

function tooFewConnections(max: number, listens: boolean): BelayError {
  return new BelayError(
    'store_misconfigured',
    `A transactional step needs a connection to itself, and the pool given to postgres() has ${max} for everything${listens ? ', one of which listens' : ''}. Raise its \`max\` to ${3 - Number(!listens)} or more; 10 is good.`,
  )
}

async function listenOn(pool: pg.Pool): Promise<ListeningClient> {
  const client = await pool.connect()
  return {
    client,
    // Not to be used again by others: it listens.
    end: async () => client.release(true),
  }
}

/** Whether a connection can be had without waiting for whoever has one. What waits already comes first. */
function hasFree(pool: pg.Pool): boolean {
  return pool.idleCount + pool.options.max - pool.totalCount > pool.waitingCount
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
