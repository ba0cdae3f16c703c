import { hasMethods, isShape, type Recogniser } from '../given-transaction.ts'

export const kysely: Recogniser = (tx) => {
  if (!hasMethods(tx, 'executeQuery', 'withoutPlugins')) return undefined
  if (tx['isTransaction'] !== true) {
    return { what: 'a Kysely database', because: ', not a transaction in it' }
  }
  const run = async (sql: string, parameters: readonly (string | null)[]) => {
    // Plugins rename columns, and may change values. Reading the method here keeps Kysely's own checks for an ended transaction.
    const plain = tx.withoutPlugins() as unknown as typeof tx
    const result = await plain.executeQuery({
      sql,
      parameters,
      query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      queryId: { queryId: 'belay' },
    })
    return isShape(result) ? result['rows'] : undefined
  }
  return { driver: 'text', key: tx, client: { query: run, script: (text) => run(text, []) } }
}
