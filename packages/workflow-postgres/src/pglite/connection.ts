import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Connection } from '../connection/connection.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'
import { turnOfEventLoop } from './event-loop.ts'
import { isStale, preparedIn } from './prepared.ts'

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
  const plain = statementsOver(database, schema, statementFor)

  const inTransaction = <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> =>
    database().transaction((transaction) => {
      const over = statementsOver(() => transaction, schema, statementFor)
      const prepared = preparedIn(database())
      const own: Connection = {
        ...over,
        async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
          const { name, text } = statementFor(statement)
          if (prepared === undefined || name === null) return over.query(statement, values)
          return prepared.runWithin<Row>({ name, text }, values)
        },
        transaction: (nested) => nested(own),
      }
      return work(own)
    })

  return {
    ...plain,
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      await turnOfEventLoop()
      const { name, text } = statementFor(statement)
      if (name === null) return plain.query(statement, values)
      const rows = await preparedIn(database())?.runAlone<Row>({ name, text }, values)
      return rows ?? plain.query(statement, values)
    },
    async transaction(work) {
      await turnOfEventLoop()
      try {
        return await inTransaction(work)
      } catch (error) {
        // It was rolled back. The next try prepares its statements anew.
        if (!isStale(error)) throw error
        return inTransaction(work)
      }
    },
    session: (work) => work(plain),
  }
}
