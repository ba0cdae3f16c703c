import type { ClientBase } from 'pg'
import type { Connection } from '../connection/connection.ts'
import { recognise, refused, withSavepoints } from '../connection/given-transaction.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { classified, codeOf, type DatabaseAddress } from '../errors.ts'
import { SameStore } from '../same-store.ts'
import { storeIdentity } from '../statements/read-store.ts'

const ADAPTER = 'postgres()'

/**
 * Turns the caller's open transaction into a connection. Nothing of it stays in the caller's session: statements are not prepared by name.
 * Conflicts come out as the database says them, since only the caller can repeat the transaction.
 */
export function givenClients(parts: {
  readonly schema: string
  readonly address: DatabaseAddress
  readonly connection: Connection
}): (tx: unknown) => Promise<Connection> {
  const { schema, address, connection } = parts
  let own: Promise<string> | undefined
  const store = new SameStore(ADAPTER, schema, () => {
    own ??= storeIdentity(connection).catch((error: unknown) => {
      own = undefined
      throw error
    })
    return own
  })
  return async (tx) => {
    const given = recognise(tx, ADAPTER)
    if (given.driver !== 'pg') throw refused(ADAPTER, 'is a transaction of PGlite')
    const over = classifying(statementsOver(given.client, { schema, prepare: false }), address)
    await assertOpen(given.client)
    await store.check(given.client, over)
    return withSavepoints(over)
  }
}

/** Throws `invalid_option` unless a transaction is open on the client, and has not failed. */
async function assertOpen(client: ClientBase): Promise<void> {
  // Asked of the server unless it has just said so: a BEGIN may be on its way, and older versions of pg don't follow it.
  if (client.getTransactionStatus?.() === 'T') return
  try {
    await client.query('savepoint belay')
    await client.query('release savepoint belay')
  } catch (error) {
    throw refused(ADAPTER, CLOSED_TO[codeOf(error) ?? ''] ?? 'has no working connection', error)
  }
}

const CLOSED_TO: Readonly<Record<string, string>> = {
  '25P01': 'is a client on which no transaction is open',
  '25P02': 'is a transaction in which a statement has failed: it can only be rolled back',
}

function classifying(
  over: Pick<Connection, 'query' | 'script'>,
  address: DatabaseAddress,
): Pick<Connection, 'query' | 'script'> {
  const saying = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await run()
    } catch (error) {
      throw classified(error, address)
    }
  }
  return {
    query: (statement, values) => saying(() => over.query(statement, values)),
    script: (text) => saying(() => over.script(text)),
  }
}
