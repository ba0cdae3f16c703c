import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Connection } from '../connection/connection.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'

/** Runs statements over a PGlite session or a transaction in it. */
export function statementsOver(
  session: () => Pick<PGliteInterface | Transaction, 'query' | 'exec'>,
  schema: string,
  statementFor = makeStatementsFor(schema),
): Pick<Connection, 'query' | 'script'> {
  return {
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const { rows } = await session().query<Row>(statementFor(statement).text, [...values])
      return rows
    },
    async script(text) {
      await session().exec(inSchema(text, schema))
    },
  }
}

/** Runs statements in PGlite. It has one session, so statements wait for each other. */
export function pgliteConnection(database: () => PGliteInterface, schema: string): Connection {
  const statementFor = makeStatementsFor(schema)
  return {
    ...statementsOver(database, schema, statementFor),
    transaction: (work) =>
      database().transaction((transaction) => {
        const over = statementsOver(() => transaction, schema, statementFor)
        const own: Connection = { ...over, transaction: (nested) => nested(own) }
        return work(own)
      }),
    session: (work) => work(statementsOver(database, schema, statementFor)),
  }
}
