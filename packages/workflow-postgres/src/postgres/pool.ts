import { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import type { DatabaseAddress } from '../base/errors.ts'

/** What tells where the database is: a url, or `pg`'s own configuration. */
export type PoolSource = string | pg.PoolConfig

// How long to wait for a connection, the wait for a free one in the pool included.
export const CONNECT_TIMEOUT_MS = 10_000

// A firewall that drops idle connections does so silently: probe before it thinks of it.
const KEEP_ALIVE_MS = 10_000

/** A pool of Belay's own, and a way to cut every connection it has or is about to have. */
export interface OwnPool {
  readonly pool: pg.Pool
  cut(): void
}

export function openPool(
  source: PoolSource,
  options: {
    readonly connectionsMax: number
    /** Called with each new client before anybody has it. */
    readonly onConnect: (client: pg.ClientBase) => Promise<unknown>
  },
): OwnPool {
  const clients = new Set<pg.Client>()
  class OwnClient extends clientClassOf(source) {
    constructor(config?: string | pg.ClientConfig) {
      super(config)
      // Before anything can arrive: an error that nobody listens for ends the process.
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
  return { pool, cut: () => clients.forEach(endSocket) }
}

/** An application may give a class of clients of its own, as tracers do. */
function clientClassOf(source: PoolSource): typeof pg.Client {
  const given = typeof source === 'string' ? undefined : source.Client
  return (given as typeof pg.Client | undefined) ?? pg.Client
}

const survivingPools = new WeakSet<pg.Pool>()
const survivingClients = new WeakSet<pg.ClientBase>()

/**
 * A connection that breaks is an error that ends the process unless somebody listens. A pool stops listening when it lends a client, before
 * whoever asked for it can begin to: what the server said in the same breath would meet nobody.
 */
export function surviveErrors(pool: pg.Pool): void {
  if (survivingPools.has(pool)) return
  survivingPools.add(pool)
  pool.on('error', ignore)
  // Those of before, and those to come.
  pool.on('acquire', surviveErrorsOf)
  pool.on('connect', surviveErrorsOf)
}

function surviveErrorsOf(client: pg.ClientBase): void {
  if (survivingClients.has(client)) return
  survivingClients.add(client)
  client.on('error', ignore)
}

/** Whether a connection can be had without waiting for whoever has one. What waits already comes first. */
export function hasFree(pool: pg.Pool): boolean {
  return pool.idleCount + pool.options.max - pool.totalCount > pool.waitingCount
}

/** Ends a connection without a word: whatever it waited for is answered with an error. */
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
      'The connection string given to postgres() is not a URL. Give one like postgres://user:password@host:5432/database, with special characters in the password percent-encoded.',
    )
  }
}

/** Checks what was given as a url, without repeating it: it may hold a password. */
export function checkUrl(url: string | undefined): string {
  if (url === undefined || url === '') {
    throw new BelayError(
      'store_misconfigured',
      'postgres() was given no connection string. Check that the environment variable is set. Give a URL like postgres://user:password@host:5432/database.',
    )
  }
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new BelayError(
    'store_misconfigured',
    'The connection string given to postgres() does not start with postgres:// or postgresql://. Give a URL like postgres://user:password@host:5432/database.',
  )
}
