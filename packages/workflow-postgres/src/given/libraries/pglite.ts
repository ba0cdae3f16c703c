import type { Transaction } from '@electric-sql/pglite'
import { hasMethods, type Recogniser, type Shape } from '../given-transaction.ts'

export const pglite: Recogniser = (tx) => {
  if (!hasMethods(tx, 'query', 'exec')) return undefined
  if (isTransaction(tx)) return { driver: 'pglite', transaction: tx }
  if (!hasMethods(tx, 'transaction')) return undefined
  return { what: 'a PGlite database', because: ', not a transaction in it' }
}

function isTransaction(tx: Shape): tx is Transaction & Shape {
  return hasMethods(tx, 'rollback') && typeof tx['closed'] === 'boolean' && !hasMethods(tx, 'transaction')
}
