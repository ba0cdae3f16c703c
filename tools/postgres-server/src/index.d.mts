export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string
  readonly port: number
  /** Ends the server and removes its files; idempotent. */
  stop(): Promise<void>
  /** The way a crash or a failover looks to clients: every connection is cut, nothing is lost; it comes back when `whileDown` has ended. */
  restart(options?: { readonly whileDown?: () => Promise<void> }): Promise<void>
  /** Stops every process of the server where it is (SIGSTOP): connections stay open, and nothing answers. Linux only. */
  freeze(): void
  /** Lets a frozen server go on. */
  thaw(): void
  /** Kills every process of the server (SIGKILL) and starts it again, which recovers from its log. Linux only. */
  crash(): Promise<void>
  /** A fresh database's url. */
  createDatabase(options?: { readonly template?: string }): Promise<string>
}

/**
 * Starts a throw-away PostgreSQL server from npm's binaries, on a free loopback port and without a socket, as root or not. It ends with
 * this process, however that ends. `durable` keeps fsync on, as benchmarks need it; without it commits don't reach the disk.
 */
export function startPostgres(options?: {
  readonly major?: 14 | 18
  readonly settings?: Readonly<Record<string, string>>
  readonly durable?: boolean
}): Promise<PostgresServer>
