import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { inSchema, makeStatementsFor, type Statement } from '../connection/statement.ts'
import { isShape, type TextClient } from './given-transaction.ts'
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
    return { ...own, transaction: (work) => client.savepoint!((inner) => work(nested(over(inner)))) }
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
  if (!Array.isArray(rows)) throw new NotRowsError('resolved to no rows')
  return rows.map((row) => {
    const json: unknown = isShape(row) ? row['belay'] : undefined
    if (typeof json !== 'string') {
      throw new NotRowsError('resolved to rows that are not objects with the text of each column')
    }
    return JSON.parse(json)
  })
}

/** The client did not do what its shape promised. */
export class NotRowsError extends Error {}
