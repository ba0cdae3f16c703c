import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Connection } from '../connection/connection.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'

/** Statements in PGlite: one session, in which everything waits for its turn. */
export function pgliteConnection(database: () => PGliteInterface, schema: string): Connection {
  const statementFor = makeStatementsFor(schema)
  const over = (session: () => PGliteInterface | Transaction): Pick<Connection, 'query' | 'script'> => ({
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const { rows } = await session().query<Row>(statementFor(statement).text, [...values])
      return rows
    },
    async script(text) {
      await session().exec(inSchema(text, schema))
    },
  })
  return {
    ...over(database),
    transaction: (work) =>
      database().transaction((transaction) => {
        const own: Connection = { ...over(() => transaction), transaction: (nested) => nested(own) }
        return work(own)
      }),
  }
}
