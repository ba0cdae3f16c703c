import type { PGlite } from '@electric-sql/pglite'

export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string
  readonly port: number
  /** Ends the server and removes its files; idempotent. */
  stop(): Promise<void>
  /** Restarts like a crash or a failover as clients see it: every connection is cut, nothing is lost. Starts again when `whileDown` has ended. */
  restart(options?: { readonly whileDown?: () => Promise<void> }): Promise<void>
  /** Stops every process of the server (SIGSTOP): connections stay open, and nothing answers. Linux only. */
  freeze(): void
  /** Continues a frozen server. */
  thaw(): void
  /** Kills every process of the server (SIGKILL) and starts it again; it recovers from its log. Linux only. */
  crash(): Promise<void>
  /** Kills every process of the server (SIGKILL) and leaves it dead. Linux only. */
  kill(): Promise<void>
  /** Starts a standby: another server, with the same settings, that follows this one asynchronously and can be read from. */
  startStandby(): Promise<PostgresServer>
  /** Ends what a standby receives from its server: promoted, it lacks what is committed from now on. */
  detach(): Promise<void>
  /** Makes a standby a server of its own, with all that it has received. */
  promote(): Promise<void>
  /** Creates a database, and resolves to its url. */
  createDatabase(options?: { readonly template?: string }): Promise<string>
}

/**
 * Starts a temporary PostgreSQL server from npm's binaries, on a free loopback port and without a socket, as root or not. It ends with this process,
 * however that ends. `durable` keeps fsync on, for benchmarks; otherwise commits do not reach the disk.
 * `inMemory` keeps the data in memory, if Linux has 4 GB of it for files: a test run makes so many files that their file system takes most of its time.
 */
export function startPostgres(options?: {
  readonly major?: 14 | 18
  readonly settings?: Readonly<Record<string, string>>
  readonly durable?: boolean
  readonly inMemory?: boolean
}): Promise<PostgresServer>

/**
 * Creates an empty PGlite in memory, like `PGlite.create()` but in a quarter of the time: a database that was initialised once is kept in
 * `node_modules` and loaded.
 */
export function createPglite(): Promise<PGlite>

/**
 * Makes a directory that holds an empty database of PGlite, as `PGlite.create(directory)` would: a copy takes a fraction of a second, initialising one
 * takes several.
 */
export function createPgliteDirectory(directory: string): Promise<void>
