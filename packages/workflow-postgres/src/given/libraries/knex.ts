import { hasMethods, isShape, type Recogniser } from '../given-transaction.ts'

export const knex: Recogniser = (tx) => {
  const client = tx['client']
  if (!hasMethods(tx, 'raw', 'transaction') || !isShape(client) || !hasMethods(client, 'acquireConnection')) {
    return undefined
  }
  if (tx['isTransaction'] !== true) return { what: 'Knex itself', because: ', not a transaction of it' }
  if (hasMethods(tx, 'isCompleted') && (tx.isCompleted() as unknown) === true) {
    return { what: 'a transaction of Knex', because: ' that has ended' }
  }
  // In a transaction, this is its own connection. Raw statements of Knex would replace question marks and repeat parameters.
  return { driver: 'held', library: 'Knex', connection: () => client.acquireConnection() }
}
