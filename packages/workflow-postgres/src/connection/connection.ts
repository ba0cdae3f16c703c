import type { Statement } from './statement.ts'

/** All that the statements need of a database, so that they are the same over `pg` and in PGlite. */
export interface Connection {
  /** Runs one statement as one transaction, or within the transaction this connection was given for. */
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<readonly Row[]>

  /** Runs several statements as one transaction. Whatever `work` throws rolls it back. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>

  /** Runs a text of several statements without parameters, for as long as it takes. For migrations. */
  script(text: string): Promise<void>
}
