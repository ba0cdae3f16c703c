import type { Connection } from '../connection/connection.ts'
import { recognise, refused, withSavepoints } from '../connection/given-transaction.ts'
import { storeIdentity } from '../store/read-store.ts'
import { SameStore } from '../store/same-store.ts'
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
      if (given.driver !== 'pglite') throw refused(ADAPTER, 'is a pg client')
      const { transaction } = given
      if (transaction.closed) throw refused(ADAPTER, 'is a transaction that has ended')
      if (identity === undefined) {
        throw refused(
          ADAPTER,
          'came before the adapter was open, and the adapter cannot open beside it. Start the engine, or open() the adapter, before the transaction begins',
        )
      }
      const over = withSavepoints(statementsOver(() => transaction, schema))
      await store.check(transaction, over)
      return over
    },
  }
}
