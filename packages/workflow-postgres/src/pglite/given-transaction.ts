import type { Connection } from '../connection/connection.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { recognise, refused } from '../given/recognise.ts'
import { SameStore } from '../given/same-store.ts'
import { storeIdentity } from '../store/read-store.ts'
import { statementsOver } from './connection.ts'

const ADAPTER = 'pglite()'

/**
 * Turns the caller's open transaction into a connection. The store's identity is read when the adapter opens, because PGlite allows no query beside
 * an open transaction.
 */
export function givenTransactions(schema: string) {
  let identity: string | undefined
  const store = new SameStore(ADAPTER, schema, {
    get known() {
      return identity
    },
    read: async () => identity ?? '',
  })
  return {
    async open(connection: Connection): Promise<void> {
      identity = await storeIdentity(connection)
    },
    async connectionOf(tx: unknown): Promise<Connection> {
      const given = recognise(tx, ADAPTER)
      if (given.driver !== 'pglite')
        throw refused(ADAPTER, given.driver === 'pg' ? 'is a pg client' : 'is not a transaction of PGlite')
      const { transaction } = given
      if (transaction.closed) throw refused(ADAPTER, 'is a transaction that has ended')
      if (identity === undefined) {
        throw refused(
          ADAPTER,
          'came before the adapter was open, and the adapter cannot open beside it. Start the engine, or open() the adapter, before the transaction begins',
        )
      }
      const over = withSavepoints(statementsOver(() => transaction, schema))
      return store.check(transaction, over)
    },
  }
}
