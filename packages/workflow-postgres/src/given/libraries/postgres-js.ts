import { hasMethods, type Recogniser, type Shape, type TextClient } from '../given-transaction.ts'

export const postgresJs: Recogniser = (tx) => {
  if (!hasMethods(tx, 'unsafe', 'notify', 'typed')) return undefined
  if (hasMethods(tx, 'begin')) {
    return {
      what: 'the sql of postgres.js itself',
      because: ', not the one that sql.begin(async (sql) => …) gives',
    }
  }
  return { driver: 'text', key: tx, client: clientOf(tx) }
}

function clientOf(
  sql: Shape & Record<'unsafe', (...values: readonly unknown[]) => Promise<unknown>>,
): TextClient {
  const client: TextClient = {
    query: (text, values) => sql.unsafe(text, values, { prepare: false }),
    script: (text) => sql.unsafe(text),
  }
  // Without it: a reserved connection, on which BEGIN may have been issued.
  if (!hasMethods(sql, 'savepoint')) return client
  const { savepoint } = sql
  return {
    ...client,
    // In begin(), a statement that fails ends the transaction, even if it is caught and a plain savepoint was set before it.
    savepoint: (work) => savepoint((inner: typeof sql) => work(clientOf(inner))) as ReturnType<typeof work>,
  }
}
