import type { Statement } from './statement.ts'

/** What the statements need of a database. It makes them the same over `pg` and in PGlite. */
export interface Connection {
  /** Runs one statement as one transaction, or within the transaction that this connection belongs to. */
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<readonly Row[]>

  /** Runs several statements as one transaction. If `work` throws, it is rolled back. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>

  /** Runs several statements without parameters, without a time limit. For migrations. */
  script(text: string): Promise<void>

  /**
   * Runs `work` in one session, outside any transaction, for statements that cannot run in one. They may take as long as a migration. Absent within a
   * transaction.
   */
  session?<Result>(work: (session: Pick<Connection, 'query' | 'script'>) => Promise<Result>): Promise<Result>
}
