import { hasMethods, isShape, type Recogniser } from '../given-transaction.ts'

/** Any other object with `query(text, values)`: the server is asked whether a transaction is open. */
export const query: Recogniser = (tx) => {
  if (!hasMethods(tx, 'query')) return undefined
  const run = async (text: string, values: readonly (string | null)[]) => {
    const result = await tx.query(text, values)
    return isShape(result) ? result['rows'] : undefined
  }
  return { driver: 'text', key: tx, client: { query: run, script: (text) => run(text, []) } }
}
