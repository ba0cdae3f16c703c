import { BelayError, counted } from '@belay/workflow/adapter'
import pg from 'pg'
import type { DatabaseAddress } from '../base/errors.ts'
import type { Setting } from '../connection/plan-settings.ts'
import type { Lender } from '../connection/pool-connection.ts'
import { Abandoned, type Ask } from './abandoned.ts'
import { acquire, Lending } from './lending.ts'
import { applicationSessions, ownSessions } from './lent-session.ts'
import { Lifeline, type LifelineClient } from './lifeline.ts'
import type { Notices } from './notices.ts'
import {
  addressOf,
  CONNECT_TIMEOUT_MS,
  clientConfig,
  endSocket,
  type OwnPool,
  openPool,
  type PoolSource,
  surviveErrors,
} from './pool.ts'
import {
  handlerSettings,
  lifelineSettings,
  prepareSession,
  type SessionFacts,
  statementSettings,
} from './session.ts'
import type { TransactParts } from './transact.ts'

/** The connections that an adapter uses. */
export interface Database {
  readonly pool: pg.Pool
  readonly address: DatabaseAddress
  readonly lender: Lender
  /** Null if no connection can be spared for it. */
  readonly lifeline: Lifeline | null
  /** Where the transactions of steps get their connections from, and how many there can be. */
  readonly transactions: Pick<TransactParts, 'max' | 'connect' | 'sessions'>
  /** Throws if a step's transaction can never get a connection. */
  checkTransactions(): void
  /** Closes what Belay opened, within a bounded time. */
  end(): Promise<void>
}

export interface DatabaseOptions {
  /** Null for no listening. */
  readonly channel: string | null
  readonly listensThroughPoolers: boolean
  /** False if the application says that there is a pooler. */
  readonly ownsSessions: boolean
  readonly connectionsMax: number
  readonly queryTimeoutMs: number
  readonly transactionsMax: number
  /** How long one of Belay's own statements in a step's transaction may take, in milliseconds. */
  readonly stepLimitMs: number
  readonly onPooler: () => void
  readonly notices: Notices
}

// How long closing may take before connections are cut.
const END_MS = 2_000

// The queries about stuck statements take milliseconds.
const ASK_MS = 2_000

export function ownDatabase(source: PoolSource, options: DatabaseOptions): Database {
  const { connectionsMax, queryTimeoutMs, transactionsMax, stepLimitMs } = options
  const config = clientConfig(source)
  const address = addressOf(config)
  const sessions = new WeakMap<object, SessionFacts>()
  const pools: OwnPool[] = []
  const open = (max: number, settings: readonly Setting[]): pg.Pool => {
    const opened = openPool(source, {
      connectionsMax: max,
      async onConnect(client) {
        sessions.set(client, await prepareSession(client, options.ownsSessions ? settings : []))
      },
    })
    pools.push(opened)
    return opened.pool
  }
  // One of them is the lifeline, which is never lent.
  const hasLifeline = connectionsMax > 1
  const pool = open(connectionsMax - Number(hasLifeline), statementSettings(queryTimeoutMs))
  const lifelineClients = new Set<pg.Client>()
  const lifeline = hasLifeline ? ownLifeline(config, lifelineClients, options) : null
  const abandoned = abandonedBeside(lifeline, sessions, config)
  const lending = { pool, sizeOption: 'connectionsMax', address, sessions, abandoned }
  // A separate pool: handlers' statements get the usual plans, and a slow one must not hold up the engine's.
  let stepPool: pg.Pool | undefined
  return {
    pool,
    address,
    lender: new Lending({ ...options, ...lending, endsStatements: options.ownsSessions }),
    lifeline,
    transactions: {
      max: transactionsMax,
      // What an application does to each new connection could not be repeated after a reset.
      sessions: 'onConnect' in config ? applicationSessions(stepLimitMs) : ownSessions(stepLimitMs, sessions),
      connect() {
        stepPool ??= open(transactionsMax, handlerSettings)
        return acquire({ pool: stepPool, sizeOption: 'transactionsMax', address }, stepLimitMs)
      },
    },
    checkTransactions() {},
    async end() {
      await within(END_MS, [lifeline?.close(), ...pools.map((opened) => opened.end())])
      abandoned.close()
      for (const { cut } of pools) cut()
      lifelineClients.forEach(endSocket)
    },
  }
}

function ownLifeline(config: pg.ClientConfig, clients: Set<pg.Client>, options: DatabaseOptions): Lifeline {
  const settings = options.ownsSessions ? lifelineSettings(options.queryTimeoutMs) : []
  return new Lifeline({ ...options, connect: () => connectLifeline(config, settings, clients) })
}

async function connectLifeline(
  config: pg.ClientConfig,
  settings: readonly Setting[],
  clients: Set<pg.Client>,
): Promise<LifelineClient> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', ignore)
  clients.add(client)
  client.once('end', () => clients.delete(client))
  await client.connect()
  try {
    const session = await prepareSession(client, settings)
    const end = async (isSilent: boolean) => {
      if (isSilent) endSocket(client)
      else await client.end()
    }
    return { client, session, end }
  } catch (error) {
    endSocket(client)
    throw error
  }
}

/** The application's Pool. Belay changes settings only in the one session that it keeps for itself. */
export function givenDatabase(pool: pg.Pool, options: DatabaseOptions): Database {
  surviveErrors(pool)
  const { max } = pool.options
  const address = addressOf(pool.options)
  const sessions = new WeakMap<object, SessionFacts>()
  const acquiring = { pool, sizeOption: "the pool's `max`", address }
  const settings = options.ownsSessions ? lifelineSettings(options.queryTimeoutMs) : []
  // The only connection of a pool must stay free for statements.
  const lifeline =
    max < 2 ? null : new Lifeline({ ...options, connect: () => lendLifeline(acquiring, settings) })
  // pg hides the password from copies.
  const config = { ...pool.options, password: pool.options.password }
  const abandoned = abandonedBeside(lifeline, sessions, config)
  // Renewals and settlements must never wait for a handler.
  const spare = max - 1 - Number(lifeline !== null)
  return {
    pool,
    address,
    lender: new Lending({ ...options, ...acquiring, endsStatements: false, sessions, abandoned }),
    lifeline,
    transactions: {
      max: Math.max(1, Math.min(options.transactionsMax, spare)),
      sessions: applicationSessions(options.stepLimitMs),
      async connect() {
        checkSpare(max, spare)
        return acquire(acquiring, options.stepLimitMs)
      },
    },
    checkTransactions: () => checkSpare(max, spare),
    async end() {
      await within(END_MS, [lifeline?.close()])
      abandoned.close()
    },
  }
}

function checkSpare(max: number, spare: number): void {
  if (spare > 0) return
  const kept = max > 1 ? ', one of which Belay keeps for leases and hints' : ''
  throw new BelayError(
    'store_misconfigured',
    `A transactional step needs its own connection, but the pool given to postgres() has only ${counted(max, 'connection')}${kept}.`,
    { remedy: 'Raise its `max` to 3 or more; 10 is a good value.' },
  )
}

async function lendLifeline(
  acquiring: Parameters<typeof acquire>[0],
  settings: readonly Setting[],
): Promise<LifelineClient> {
  const client = await acquire(acquiring)
  // Others must not use it again: it listens, and its settings were changed.
  const end = async (isSilent: boolean) => {
    if (isSilent) endSocket(client)
    client.release(true)
  }
  try {
    return { client, session: await prepareSession(client, settings), end }
  } catch (error) {
    await end(true)
    throw error
  }
}

function abandonedBeside(
  lifeline: Lifeline | null,
  sessions: WeakMap<object, SessionFacts>,
  config: pg.ClientConfig,
): Abandoned {
  if (lifeline === null) return new Abandoned({ sessions, ask: askOnce(config), hold: () => ignore })
  const ask: Ask = async (text, values) => {
    const letGo = lifeline.hold()
    try {
      return (await lifeline.query({ text, values: [...values] }, ASK_MS)).rows
    } finally {
      letGo()
    }
  }
  return new Abandoned({ sessions, ask, hold: () => lifeline.hold() })
}

/** Asks over a connection opened for this purpose: the one exception to a pool of one. */
function askOnce(config: pg.ClientConfig): Ask {
  return async (text, values) => {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: ASK_MS })
    client.on('error', ignore)
    try {
      await client.connect()
      // pg also accepts this timeout for a single query; its types omit it.
      const query = { text, values: [...values], query_timeout: ASK_MS } as pg.QueryConfig<unknown[]>
      return (await client.query(query)).rows
    } finally {
      endSocket(client)
    }
  }
}

async function within(ms: number, work: readonly unknown[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.all(work), bound]).finally(() => clearTimeout(timer))
}

function ignore() {}
