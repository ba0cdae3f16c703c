import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'
import { isShape, MisshapenError, type TextClient } from './given-transaction.ts'
import { jsonStatement } from './json-statement.ts'

/** Runs statements over a library's transaction, which is one already. `told` makes the error that the caller sees. */
export function textConnections(
  schema: string,
  told: (error: unknown) => unknown,
): (client: TextClient) => Connection {
  const statementFor = makeStatementsFor(schema)
  const texts = new Map<Statement<unknown>, string>()
  const textOf = (statement: Statement<unknown>) => {
    const known = texts.get(statement)
    if (known !== undefined) return known
    const text = jsonStatement(statementFor(statement).text)
    if (statement.name !== null) texts.set(statement, text)
    return text
  }
  const telling = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await run()
    } catch (error) {
      throw told(error)
    }
  }
  return function over(client: TextClient): Connection {
    const own = withSavepoints({
      query: <Row>(statement: Statement<Row>, values: readonly unknown[]) =>
        telling(
          async () =>
            rowsOf(await client.query(textOf(statement), values.map(textOfValue))) as readonly Row[],
        ),
      script: (text) => telling(async () => void (await client.script(inSchema(text, schema)))),
    })
    if (client.savepoint === undefined) return own
    const underSavepoint: Connection['transaction'] = (work) =>
      telling(() => client.savepoint!((inner) => work(nested(over(inner)))))
    return { ...own, transaction: underSavepoint }
  }
}

/** A connection under a savepoint sets no further one. */
function nested(over: Connection): Connection {
  const own: Connection = { ...over, transaction: (work) => work(own) }
  return own
}

function textOfValue(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? listText(value) : String(value)
}

function rowsOf(rows: unknown): readonly unknown[] {
  if (!Array.isArray(rows)) throw new MisshapenError('has a query() that resolved to no rows')
  return rows.map((row) => {
    const json: unknown = isShape(row) ? row['belay'] : undefined
    try {
      if (typeof json === 'string') return JSON.parse(json)
    } catch {
      // Not the text that the server sent.
    }
    throw new MisshapenError(
      'has a query() that resolved to rows which are not objects with the text of each column',
    )
  })
}
