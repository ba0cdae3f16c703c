import { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import type { DatabaseAddress } from '../base/errors.ts'

/** Where the database is: a url, or `pg`'s own configuration. */
export type PoolSource = string | pg.PoolConfig

// How long to wait for a connection, including the wait for a free one in the pool.
export const CONNECT_TIMEOUT_MS = 10_000

// Firewalls drop idle connections silently: probe sooner than they do.
const KEEP_ALIVE_MS = 10_000

/** Belay's own pool, and a way to cut all connections that it has or is opening. */
export interface OwnPool {
  readonly pool: pg.Pool
  /** Ends it. Whoever waits for a connection is refused at once. */
  end(): Promise<void>
  cut(): void
}

export function openPool(
  source: PoolSource,
  options: {
    readonly connectionsMax: number
    /** Called with each new client before anyone else gets it. */
    readonly onConnect: (client: pg.ClientBase) => Promise<unknown>
  },
): OwnPool {
  const clients = new Set<pg.Client>()
  class OwnClient extends clientClassOf(source) {
    constructor(config?: string | pg.ClientConfig) {
      super(config)
      // Before anything can arrive: an error without a listener ends the process.
      this.on('error', ignore)
      clients.add(this)
      this.once('end', () => clients.delete(this))
    }
  }
  const config: pg.PoolConfig = clientConfig(source)
  const pool = new pg.Pool({
    ...config,
    max: options.connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    Client: OwnClient,
    async onConnect(client) {
      await config.onConnect?.(client)
      await options.onConnect(client)
    },
  })
  surviveErrors(pool)
  const end = () => {
    const ended = pool.end()
    refuseWaiting(pool)
    return ended
  }
  return { pool, end, cut: () => clients.forEach(endSocket) }
}

/** A pool that ends serves nobody who waits for a connection, but leaves them their time limits, each of which keeps the process alive. */
function refuseWaiting(pool: pg.Pool): void {
  if (!('_pendingQueue' in pool) || !Array.isArray(pool._pendingQueue)) return
  const waiting: readonly { callback(error: Error): void }[] = pool._pendingQueue.splice(0)
  for (const { callback } of waiting) callback(new Error('The pool was ended before a connection was free.'))
}

/** An application may give its own class of clients, as tracers do. */
function clientClassOf(source: PoolSource): typeof pg.Client {
  const given = typeof source === 'string' ? undefined : source.Client
  return (given as typeof pg.Client | undefined) ?? pg.Client
}

const survivingPools = new WeakSet<pg.Pool>()
const survivingClients = new WeakSet<pg.ClientBase>()

/**
 * A broken connection emits an error, and an error without a listener ends the process. A pool removes its own listener when it lends a client,
 * before the borrower can add one: an error that arrives in between would have no listener.
 */
export function surviveErrors(pool: pg.Pool): void {
  if (survivingPools.has(pool)) return
  survivingPools.add(pool)
  pool.on('error', ignore)
  // Existing clients, and new ones.
  pool.on('acquire', surviveErrorsOf)
  pool.on('connect', surviveErrorsOf)
}

export function surviveErrorsOf(client: pg.ClientBase): void {
  if (survivingClients.has(client)) return
  survivingClients.add(client)
  client.on('error', ignore)
}

/** Whether a connection can be had without waiting for another caller. Callers that already wait come first. */
export function hasFree(pool: pg.Pool): boolean {
  return pool.idleCount + pool.options.max - pool.totalCount > pool.waitingCount
}

/** The clients of a pool, including those that are still connecting. */
export function clientsOf(pool: pg.Pool): readonly pg.ClientBase[] {
  return '_clients' in pool && Array.isArray(pool._clients) ? pool._clients : []
}

/** The clients of a pool that the server has not answered yet. */
export function connectingClients(pool: pg.Pool): readonly pg.ClientBase[] {
  return clientsOf(pool).filter(isConnecting)
}

export function isConnecting(client: pg.ClientBase): boolean {
  return '_connecting' in client && client._connecting === true
}

/** Closes a connection silently: its pending statements fail with an error. */
export function endSocket(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

function ignore() {}

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

/** Where a configuration leads, including the PG* environment variables. Throws `store_misconfigured` if it is not a url, or names a certificate that cannot be read. */
export function addressOf(config: pg.ClientConfig): DatabaseAddress {
  const { host, port, database, user } = unconnectedClient(config)
  return { host, port, database: database ?? '', user: user ?? '' }
}

function unconnectedClient(config: pg.ClientConfig): pg.Client {
  try {
    return new pg.Client(config)
  } catch (error) {
    const { path, code } = error as NodeJS.ErrnoException
    if (typeof path === 'string') {
      throw new BelayError(
        'store_misconfigured',
        `The connection string given to postgres() names the file ${path}, which cannot be read (${code}).`,
        { remedy: 'Correct the path in sslcert, sslkey or sslrootcert, or let this user read the file.' },
      )
    }
    // Neither the text nor the error that it caused: both contain the password.
    throw new BelayError('store_misconfigured', 'The connection string given to postgres() is not a URL.', {
      remedy:
        'Give one like postgres://user:password@host:5432/database, with special characters in the password percent-encoded.',
    })
  }
}

/** Checks a given url without repeating it in errors: it may contain a password. */
export function checkUrl(url: string | undefined): string {
  if (url === undefined || url === '') {
    throw new BelayError('store_misconfigured', 'postgres() was given no connection string.', {
      remedy:
        'Check that the environment variable is set. Give a URL like postgres://user:password@host:5432/database.',
    })
  }
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new BelayError(
    'store_misconfigured',
    'The connection string given to postgres() does not start with postgres:// or postgresql://.',
    { remedy: 'Give a URL like postgres://user:password@host:5432/database.' },
  )
}
