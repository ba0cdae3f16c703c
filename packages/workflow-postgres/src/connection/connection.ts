import type { Statement } from './statement.ts'

/** All that the statements need of a database, so that they are the same over `pg` and in PGlite. */
export interface Connection {
  /** Runs one statement as one transaction, or within the transaction this connection was given for. */
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<readonly Row[]>

  /** Runs several statements as one transaction. Whatever `work` throws rolls it back. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>

  /** Runs a text of several statements without parameters, for as long as it takes. For migrations. */
  script(text: string): Promise<void>

  /**
   * One session, outside any transaction, whose statements take as long as a migration may. For what cannot be part of a transaction. Left out
   * within a transaction.
   */
  session?<Result>(work: (session: Pick<Connection, 'query' | 'script'>) => Promise<Result>): Promise<Result>
}
