import {
  checkArgument,
  checkOptions,
  type Kind,
  type OptionTable,
  Refusal,
  readOptions,
  type SettingsOf,
  shown,
  wholeNumber,
  yesOrNo,
} from '@belay/workflow/adapter'
import type { Store } from '@belay/workflow/store'
import type pg from 'pg'
import { type SqlAdapter, sqlAdapter } from '../adapter.ts'
import type { Connection } from '../connection/connection.ts'
import { poolConnection } from '../connection/pool-connection.ts'
import type { SqlAdapterParts } from '../open-store.ts'
import { DEFAULT_SCHEMA, schemaName } from '../schema-name.ts'
import { sqlStore } from '../statements/store.ts'
import { timelineReader } from '../store/read-store.ts'
import { type Database, type DatabaseOptions, givenDatabase, ownDatabase } from './database.ts'
import { givenClients } from './given-client.ts'
import { channelOf, listenNotify } from './listener.ts'
import { Notices } from './notices.ts'
import { CONNECT_TIMEOUT_MS, checkUrl, hasFree, type PoolSource } from './pool.ts'
import { renewalConnections } from './renewals.ts'
import { NewsChannel } from './run-news.ts'
import { lockTimeoutMs } from './session.ts'
import { postgresTransact } from './transact.ts'

/** Where the database is: a url, `pg`'s configuration, or the application's Pool, which Belay never ends. */
export type PostgresSource = PoolSource | pg.Pool | undefined

export interface PostgresOptions {
  /** The Postgres schema of Belay's tables. Default `'belay'`. */
  readonly schema?: string | undefined
  /**
   * Bring the schema up to date when the engine starts, instead of in a deployment step. Default: only in development mode, `createEngine({ dev: true
   * })`. False: not even then.
   */
  readonly autoMigrate?: boolean | undefined
  /**
   * Prepare statements by name. Default: yes, unless a pooler like PgBouncer is found between Belay and the server. True: also through a pooler, if
   * it keeps clients' prepared statements apart. False: never, and then Belay changes no session settings either.
   */
  readonly prepare?: boolean | undefined
  /**
   * Belay's own connections, besides those of `transactionsMax`. With two or more, one is the lifeline: it renews leases, listens, and cancels
   * statements that are stuck on the others. A timed-out statement keeps its connection until the server has ended it, so the server never sees more
   * than this number. Exception: with a single connection, Belay briefly opens a second one to cancel a stuck statement. Default 5.
   */
  readonly connectionsMax?: number | undefined
  /**
   * Listen for work, instead of only looking at every tick. Default: yes, unless `prepare` is false or a pooler is found. False: nothing is notified in a
   * caller's transaction either, so that it can be committed in two phases.
   */
  readonly listen?: boolean | undefined
  /**
   * How long one of Belay's statements may take, in milliseconds. Then the server ends it. It ends a wait for a lock after half of this time, at most
   * five seconds. Through a pooler, and on the application's Pool, Belay sets nothing and cancels the statement instead. Default 30000.
   */
  readonly queryTimeoutMs?: number | undefined
  /**
   * How many handlers of transactional steps run at once, each on its own connection besides `connectionsMax`. Of the application's Pool they take
   * all connections but two at most: Belay keeps one for leases and hints, and one must be free for its statements. Default 5.
   */
  readonly transactionsMax?: number | undefined
  /**
   * How long a step's transaction may be open without a statement before the database ends it, in milliseconds: a process that hangs must not keep
   * its locks. Default 60000.
   */
  readonly transactionIdleTimeoutMs?: number | undefined
}

const OPTIONS = {
  schema: { sets: "the Postgres schema of Belay's tables", takes: schemaName, default: DEFAULT_SCHEMA },
  autoMigrate: {
    sets: 'whether the schema is brought up to date when the engine starts',
    takes: yesOrNo,
  },
  prepare: { sets: 'whether statements are prepared by name', takes: yesOrNo },
  connectionsMax: {
    sets: "how many connections Belay's statements have",
    takes: wholeNumber(1, 1_000),
    default: 5,
  },
  listen: { sets: 'whether workers listen for work', takes: yesOrNo },
  queryTimeoutMs: {
    sets: 'how many milliseconds a statement may take',
    takes: wholeNumber(100, 3_600_000),
    default: 30_000,
  },
  transactionsMax: {
    sets: 'how many handlers of transactional steps run at once',
    takes: wholeNumber(1, 1_000),
    default: 5,
  },
  transactionIdleTimeoutMs: {
    sets: "how many milliseconds a step's transaction may be idle",
    takes: wholeNumber(100, 86_400_000),
    default: 60_000,
  },
} satisfies OptionTable

type Settings = SettingsOf<typeof OPTIONS>

const SOURCE: Kind<PostgresSource> = {
  words: "a URL, pg's configuration, or a Pool of pg",
  read(given) {
    // Errors do not repeat a URL: it may contain a password.
    if (given === undefined || typeof given === 'string') return given
    if (typeof given === 'object' && given !== null && isPool(given as PostgresSource))
      return given as pg.Pool
    return (readOptions(given) as pg.PoolConfig | undefined) ?? new Refusal(shown(given))
  },
}

export interface PostgresAdapter extends SqlAdapter {
  /**
   * The pool that Belay uses: the given one, or its own. Sessions of its own pool have planner settings for Belay's statements: run other statements
   * elsewhere.
   */
  readonly pool: pg.Pool
}

/**
 * Keeps workflows in PostgreSQL 12 or later, over `pg`.
 *
 * @throws BelayError `invalid_option` for an unknown option or an unsuitable value, `store_misconfigured` if a url is not a url.
 */
export function postgres(source: PostgresSource, given: PostgresOptions = {}): PostgresAdapter {
  const { parts, database, connection, notices, news } = postgresParts(source, given)
  const onNotice: PostgresAdapter['onNotice'] = (listener) => notices.listen(listener)
  return Object.assign(sqlAdapter(parts), {
    pool: database.pool,
    onNotice,
    checkTransactions: database.checkTransactions,
    timeline: timelineReader(connection),
    ...news.verbs,
  })
}

/** The store of the new engine, over the same connections. */
export function postgresStore(source: PostgresSource, given: PostgresOptions = {}): Store {
  return sqlStore(postgresParts(source, given).parts)
}

function postgresParts(source: PostgresSource, given: PostgresOptions) {
  const options = checkOptions('postgres()', given, OPTIONS)
  checkArgument('postgres()', 'the source', source, SOURCE)
  const { schema } = options
  const notices = new Notices()
  const database = databaseOf(source, databaseOptions(schema, options, notices))
  const { address, lifeline, pool } = database
  const { prepare, autoMigrate } = options
  const connection = connectionOver(database, schema, options)
  const clients = givenClientsOf(database, connection, options)
  const news = newsOver(canSpare(source) ? database : { lifeline: null }, connection, options)
  const parts: SqlAdapterParts = {
    name: 'postgres',
    schema,
    connection,
    renewing: renewalConnections({ schema, prepare: prepare ?? true, connection, lifeline, pool, notices }),
    holdLifeline: () => lifeline?.hold(),
    given: clients.connectionOf,
    hasFree: () => hasFree(pool),
    transact: transactOver(database, connection, options),
    wakeup: wakeupOver(database, connection, options),
    autoMigrate,
    tell: (notice) => notices.tell(notice),
    remedy: remedyFor(options),
    async connect() {},
    async onOpen() {
      address.wasOpen = true
      await clients.open()
    },
    async disconnect() {
      news.close()
      await database.end()
    },
  }
  return { parts, database, connection, notices, news }
}

function wakeupOver({ lifeline }: Database, connection: Connection, { schema, listen }: Settings) {
  const notify = notifyOver(connection)
  return listenNotify({ schema, lifeline, notify, notifiesWithin: listen !== false })
}

function transactOver({ address, transactions }: Database, connection: Connection, options: Settings) {
  const { schema, prepare, transactionIdleTimeoutMs: idleTimeoutMs } = options
  const limitMs = stepLimitMs(options)
  const watchEveryMs = Math.min(limitMs, WATCH_EVERY_MS)
  return postgresTransact({
    ...{ schema, prepare, address, connection, idleTimeoutMs, limitMs, watchEveryMs },
    ...transactions,
  })
}

/** The smallest Pool of an application's that can spare a connection for a process that only awaits: the application waits for the others. */
const SPARING_POOL_MAX = 5

function canSpare(source: PostgresSource): boolean {
  return !isPool(source) || source.options.max >= SPARING_POOL_MAX
}

/** News about runs, if a connection listens. */
function newsOver({ lifeline }: Pick<Database, 'lifeline'>, connection: Connection, options: Settings) {
  if (lifeline === null || !listens(options)) return { verbs: {}, close: () => {} }
  const notify = notifyOver(connection)
  const news = new NewsChannel(lifeline, (payload) => notify(channelOf(options.schema), payload))
  const onNews: PostgresAdapter['onNews'] = (listener) => news.listen(listener)
  const tell: PostgresAdapter['tell'] = (told) => news.tell(told)
  return { verbs: { onNews, tell }, close: () => news.close() }
}

function listens({ listen, prepare }: Settings): boolean {
  return listen ?? prepare ?? true
}

function databaseOptions(schema: string, options: Settings, notices: Notices): DatabaseOptions {
  return {
    channel: listens(options) ? channelOf(schema) : null,
    listensThroughPoolers: options.listen === true,
    ownsSessions: options.prepare ?? true,
    connectionsMax: options.connectionsMax,
    queryTimeoutMs: options.queryTimeoutMs,
    transactionsMax: options.transactionsMax,
    stepLimitMs: stepLimitMs(options),
    onPooler: poolerNotice(notices),
    notices,
  }
}

/** How long one of Belay's own statements in a step's transaction may take, in milliseconds. */
function stepLimitMs({ queryTimeoutMs }: Settings): number {
  return Math.min(queryTimeoutMs, CONNECT_TIMEOUT_MS)
}

function givenClientsOf({ address, pool }: Database, connection: Connection, options: Settings) {
  const { schema, queryTimeoutMs } = options
  // Errors in a caller's transaction concern the caller: they are reported unchanged, even if the store was open before.
  const told = { ...address }
  const limitMs = stepLimitMs(options)
  return givenClients({
    schema,
    address: told,
    pool,
    connection,
    remedy: remedyFor(options),
    limitMs,
    queryTimeoutMs,
  })
}

function connectionOver(database: Database, schema: string, options: Settings): Connection {
  return poolConnection({
    lender: database.lender,
    schema,
    prepare: options.prepare,
    address: database.address,
    lockTimeoutMs: lockTimeoutMs(options.queryTimeoutMs),
  })
}

function notifyOver(connection: Connection) {
  return (channel: string, payload: string, within = connection) =>
    within.query(sendNotification, [channel, payload])
}

function databaseOf(source: PostgresSource, options: DatabaseOptions): Database {
  if (isPool(source)) return givenDatabase(source, options)
  return ownDatabase(typeof source === 'object' ? source : checkUrl(source), options)
}

/** Reports a pooler between Belay and the server, once. */
function poolerNotice(notices: Notices): () => void {
  let isTold = false
  return () => {
    if (isTold) return
    isTold = true
    notices.tell({
      level: 'info',
      code: 'pooler_detected',
      message:
        'A pooler is between Belay and the server. Belay sets nothing in its sessions, prepares no statements by name, and does not listen: workers find work at their next tick. A direct connection is faster. Set `prepare: true` for a pooler that supports prepared statements.',
    })
  }
}

const sendNotification = { name: 'send_notification', text: `select pg_notify($1::text, $2::text)` }

/** The ways to a schema that fits, the shortest first. */
function remedyFor({ autoMigrate }: Settings): string {
  const migrate = 'call migrate(url) of @belay/workflow-postgres in a deployment step'
  if (autoMigrate === false) return `Remove autoMigrate: false, or ${migrate}.`
  return `In development give createEngine() the option dev: true. Elsewhere give postgres() the option autoMigrate: true, or ${migrate}.`
}

const WATCH_EVERY_MS = 5_000

function isPool(source: PostgresSource): source is pg.Pool {
  return typeof source === 'object' && 'connect' in source && typeof source.connect === 'function'
}
