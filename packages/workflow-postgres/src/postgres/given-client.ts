import { BelayError, StoreUnavailableError } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { within } from '../connection/within.ts'
import { type OwnIdentity, SameStore } from '../given/same-store.ts'
import { checkSchemaVersion } from '../migrate/schema-version.ts'
import type { OpenState } from '../open-store.ts'
import { storeIdentity } from '../store/read-store.ts'
import { ADAPTER, type OpenTransactionParts, openTransactions } from './open-transaction.ts'

export interface GivenClientsParts extends OpenTransactionParts {
  readonly connection: Connection
  readonly remedy: string
  /** The longest wait for anything beside the caller's transaction, in milliseconds. */
  readonly limitMs: number
}

/**
 * Turns the caller's open transaction into a connection. It leaves nothing in the caller's session: statements are not prepared by name. Conflicts
 * are reported as the database's own errors, because only the caller can repeat the transaction.
 *
 * The caller holds a connection, perhaps the last one of a pool that Belay also uses. So Belay asks within the transaction if it can. If it cannot,
 * its wait for another connection has a limit. So has every wait for an answer: the caller's client waits for ever if its peer vanishes.
 */
export function givenClients(parts: GivenClientsParts) {
  const own = ownIdentity(parts)
  const store = new SameStore(ADAPTER, parts.schema, own)
  const transactionOf = openTransactions(parts)
  let isSchemaKnown = false
  return {
    /** Reads in advance what a transaction would need to know. */
    async open(): Promise<void> {
      await own.read()
    },
    async connectionOf(tx: unknown, opened: OpenState): Promise<Connection> {
      const { key, over, leadsHere, assertOpen } = await transactionOf(tx)
      await assertOpen()
      if (store.knows(key)) return store.over(over)
      if (!isSchemaKnown && !opened.isOpen()) await checkSchema(await store.over(over), opened, parts)
      const even = await store.check(key, over, leadsHere)
      isSchemaKnown = true
      return even
    },
  }
}

function ownIdentity({ connection, limitMs }: GivenClientsParts): OwnIdentity {
  let known: string | undefined
  let reading: Promise<string> | undefined
  const read = async () => {
    try {
      known = await storeIdentity(connection)
      return known
    } finally {
      reading = undefined
    }
  }
  return {
    get known() {
      return known
    },
    async read() {
      if (known !== undefined) return known
      reading ??= read()
      return within(limitMs, reading, () => noConnection(limitMs))
    },
  }
}

/**
 * Checks the schema before the adapter was opened. What the transaction sees is right, unless it sees no store: then the store may be newer than its
 * snapshot, not migrated yet, or elsewhere. The adapter's own connections tell.
 */
async function checkSchema(over: Connection, opened: OpenState, parts: GivenClientsParts): Promise<void> {
  const { schema, remedy, limitMs } = parts
  try {
    await checkSchemaVersion(over, { schema, remedy })
  } catch (error) {
    if (!BelayError.is(error) || !ABOUT_SCHEMA.has(error.code)) throw error
    await within(limitMs, opened.open(), () => noConnection(limitMs, error.message))
  }
}

const ABOUT_SCHEMA: ReadonlySet<string> = new Set(['schema_missing', 'schema_outdated', 'schema_too_new'])

function noConnection(limitMs: number, seen = 'It seems to belong to another database.'): BelayError {
  return new StoreUnavailableError(
    `Belay was given an open transaction as tx before the adapter was open. ${seen} Belay cannot check this inside the transaction, and no other connection answered within ${limitMs} ms.`,
    {
      remedy:
        'Start the engine, or open() the adapter, before such transactions begin; or give the pool more connections.',
    },
  )
}
