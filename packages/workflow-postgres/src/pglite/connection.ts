import { turnOfEventLoop } from '@belay/workflow/adapter'
import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Connection } from '../connection/connection.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'
import { classified, isReadOnly } from './errors.ts'
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

  const inTransaction = transactionsOf(database, schema, statementFor)

  const transaction = async <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> => {
    await turnOfEventLoop()
    try {
      return await inTransaction(work)
    } catch (error) {
      // It was rolled back. The application may have made its session read only; or the next try prepares its statements anew.
      if (isReadOnly(error)) return inTransaction(work, READ_WRITE)
      if (!isStale(error)) throw error
      return inTransaction(work)
    }
  }

  return {
    script: (text) => told(plain.script(text)),
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      await turnOfEventLoop()
      const { name, text } = statementFor(statement)
      try {
        if (name === null) return await plain.query(statement, values)
        const rows = await preparedIn(database())?.runAlone<Row>({ name, text }, values)
        return rows ?? (await plain.query(statement, values))
      } catch (error) {
        if (!isReadOnly(error)) throw classified(error)
        return told(inTransaction((own) => own.query(statement, values), READ_WRITE))
      }
    },
    transaction: (work) => told(transaction(work)),
    session: (work) => told(work(plain)),
  }
}

function transactionsOf(
  database: () => PGliteInterface,
  schema: string,
  statementFor: ReturnType<typeof makeStatementsFor>,
) {
  return <Result>(work: (connection: Connection) => Promise<Result>, begin = ''): Promise<Result> =>
    database().transaction(async (transaction) => {
      if (begin !== '') await transaction.exec(begin)
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
}

const READ_WRITE = 'set transaction read write'

async function told<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer
  } catch (error) {
    throw classified(error)
  }
}
