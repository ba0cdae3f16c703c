import type { ClientBase } from 'pg'
import { hasMethods, isShape, type Recogniser, type Shape } from '../given-transaction.ts'

export const pg: Recogniser = (tx) => {
  if (isPgClient(tx)) return { driver: 'pg', client: tx }
  if (!hasMethods(tx, 'query', 'connect') || typeof tx['totalCount'] !== 'number') return undefined
  return {
    what: 'a pg Pool',
    because: ': each of its queries may take another connection, so it has no transaction',
  }
}

// A pool has no `connectionParameters`, only options.
export function isPgClient(value: unknown): value is ClientBase & Shape {
  return isShape(value) && hasMethods(value, 'query') && isShape(value['connectionParameters'])
}
