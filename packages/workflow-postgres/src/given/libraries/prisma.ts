import { hasMethods, type Recogniser } from '../given-transaction.ts'

export const prisma: Recogniser = (tx) => {
  if (!hasMethods(tx, '$queryRawUnsafe', '$executeRawUnsafe')) return undefined
  // A transaction's client has everything of the client but this, and some methods beside it.
  if (hasMethods(tx, '$disconnect')) {
    return {
      what: 'a Prisma client',
      because: ', not the transaction that $transaction(async (tx) => …) gives',
    }
  }
  const client = {
    query: (text: string, values: readonly (string | null)[]) => tx.$queryRawUnsafe(text, ...values),
    script: (text: string) => tx.$executeRawUnsafe(text),
  }
  return { driver: 'text', key: tx, client }
}
