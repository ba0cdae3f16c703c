import type { Connection } from '../connection/connection.ts'
import { recognise, refused, withSavepoints } from '../connection/given-transaction.ts'
import { storeIdentity } from '../store/read-store.ts'
import { SameStore } from '../store/same-store.ts'
import { statementsOver } from './connection.ts'

const ADAPTER = 'pglite()'

/**
 * Turns the caller's open transaction into a connection. What is to be known of the store is asked when the adapter opens: while the
 * transaction is open there is nothing to ask beside it.
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
      if (transaction.closed) throw refused(ADAPTER, 'is a transaction that is over')
      if (identity === undefined) {
        throw refused(
          ADAPTER,
          'came before the adapter was open, and nothing can be opened beside it. Start the engine, or open() the adapter, before the transaction begins',
        )
      }
      const over = withSavepoints(statementsOver(() => transaction, schema))
      await store.check(transaction, over)
      return over
    },
  }
}
