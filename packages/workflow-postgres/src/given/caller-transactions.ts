// The types of the libraries' transactions, by structure: nobody must install a library for the types of another.

type Value = string | null

/**
 * Anything that runs a statement in the caller's transaction: a client of pg on which BEGIN was issued, a transaction of PGlite, a QueryRunner of
 * TypeORM, or an object of your own around another driver.
 *
 * Values are strings and nulls, for the parameters `$1`, `$2` and so on. Rows are objects with the text of each column. A statement that returns nothing
 * resolves to no rows. All statements must go to the connection of one open transaction, one after another, and must not be repeated. A failed statement
 * rejects with the driver's error, whose `code`, or that of its `cause`, is the SQLSTATE.
 */
export interface QueryTransaction {
  query(text: string, values: Value[]): PromiseLike<{ readonly rows: readonly unknown[] }>
  readonly totalCount?: 'A Pool has no transaction. Give a client of it on which BEGIN was issued.'
  readonly waitReady?: 'A database of PGlite is no transaction. Give what its transaction() gives.'
  readonly createQueryRunner?: 'A DataSource is no transaction. Give the EntityManager that its transaction() gives.'
}

/** The transaction that `transaction()` of drizzle gives, over node-postgres, postgres.js or PGlite. */
export interface DrizzleTransaction {
  rollback(): never
  setTransaction(config: never): PromiseLike<unknown>
  readonly $client?: 'A database is no transaction. Give what its transaction() gives.'
}

/** Drizzle over one client, on which BEGIN was issued. */
export interface DrizzleOverClient {
  readonly $client: QueryTransaction
  execute(query: never): unknown
}

/** The `sql` that `sql.begin()` or `sql.savepoint()` of postgres.js gives, or one from `sql.reserve()` on which BEGIN was issued. */
export type PostgresJsTransaction =
  | {
      unsafe(text: string, values?: Value[]): PromiseLike<readonly unknown[]>
      savepoint(...work: never): unknown
    }
  | { unsafe(text: string, values?: Value[]): PromiseLike<readonly unknown[]>; release(): void }

/** A `Transaction` or `ControlledTransaction` of Kysely. */
export interface KyselyTransaction {
  readonly isTransaction: true
  executeQuery(query: never): PromiseLike<{ readonly rows: readonly unknown[] }>
}

/** A `Transaction` of Knex over pg. */
export interface KnexTransaction {
  isCompleted(): boolean
  raw(text: string): unknown
  readonly executionPromise: PromiseLike<unknown>
}

/** The client that an interactive transaction of Prisma gives. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: Value[]): PromiseLike<unknown>
  $executeRawUnsafe(text: string, ...values: Value[]): PromiseLike<number>
  readonly $disconnect?: 'The client is no transaction. Give the one that $transaction(async (tx) => …) gives.'
}

/** The EntityManager that `transaction()` of TypeORM gives. */
export interface TypeormTransaction {
  query(text: string, values?: Value[]): PromiseLike<unknown>
  getRepository(entity: never): unknown
  readonly createQueryRunner?: 'A DataSource is no transaction. Give the EntityManager that its transaction() gives.'
}

declare module '@belay/workflow/adapter' {
  interface CallerTransactions {
    readonly query: QueryTransaction
    readonly drizzle: DrizzleTransaction | DrizzleOverClient
    readonly postgresJs: PostgresJsTransaction
    readonly kysely: KyselyTransaction
    readonly knex: KnexTransaction
    readonly prisma: PrismaTransaction
    readonly typeorm: TypeormTransaction
  }
}
