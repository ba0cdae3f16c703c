import { BelayError, StoreUnavailableError } from '@belay/workflow/adapter'
import type { Client, ClientBase, Pool, QueryConfig } from 'pg'
import { classified, codeOf, type DatabaseAddress, nameOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { recognise, refused, withSavepoints } from '../connection/given-transaction.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { within } from '../connection/within.ts'
import { checkSchemaVersion } from '../migrate/schema-version.ts'
import type { OpenState } from '../open-store.ts'
import { storeIdentity } from '../store/read-store.ts'
import { type OwnIdentity, SameStore } from '../store/same-store.ts'
import { clientsOf, endSocket, surviveErrorsOf } from './pool.ts'

const ADAPTER = 'postgres()'

export interface GivenClientsParts {
  readonly schema: string
  readonly address: DatabaseAddress
  /** Belay's own pool. */
  readonly pool: Pool
  readonly connection: Connection
  readonly remedy: string
  /** The longest wait for anything beside the caller's transaction, in milliseconds. */
  readonly limitMs: number
  /** The longest wait for the answer to one statement in the caller's transaction, in milliseconds. */
  readonly queryTimeoutMs: number
}

/**
 * Turns the caller's open transaction into a connection. It leaves nothing in the caller's session: statements are not prepared by name. Conflicts
 * are reported as the database's own errors, because only the caller can repeat the transaction.
 *
 * The caller holds a connection, perhaps the last one of a pool that Belay also uses. So Belay asks within the transaction if it can. If it cannot,
 * its wait for another connection has a limit. So has every wait for an answer: the caller's client waits for ever if its peer vanishes.
 */
export function givenClients(parts: GivenClientsParts) {
  const { schema, address } = parts
  const own = ownIdentity(parts)
  const store = new SameStore(ADAPTER, schema, own)
  let isSchemaKnown = false
  return {
    /** Reads in advance what a transaction would need to know. */
    async open(): Promise<void> {
      await own.read()
    },
    async connectionOf(tx: unknown, opened: OpenState): Promise<Connection> {
      const given = recognise(tx, ADAPTER)
      if (given.driver !== 'pg') throw refused(ADAPTER, 'is a transaction of PGlite')
      const { client } = given
      const answering = bounded(client, parts)
      const over = withSavepoints(classifying(statementsOver(answering, { schema, prepare: false }), address))
      await assertOpen(client, answering)
      if (store.knows(client)) return over
      if (!isSchemaKnown && !opened.isOpen()) await checkSchema(over, opened, parts)
      await store.check(client, over, leadsHere(client, parts))
      isSchemaKnown = true
      return over
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
    `Belay was given an open transaction as tx before the adapter was open. ${seen} Belay cannot check this inside the transaction, and no other connection answered within ${limitMs} ms. Start the engine, or open() the adapter, before such transactions begin; or give the pool more connections.`,
  )
}

/** Whether a client belongs to the pool, or connects to the same place as the pool's clients. */
function leadsHere(client: ClientBase, { pool, address }: GivenClientsParts): boolean {
  if (clientsOf(pool).includes(client)) return true
  // A custom stream to the server, as for proxies of cloud providers: then the address means nothing.
  if (pool.options.stream !== undefined) return false
  const { host, port, database } = client as Partial<Client>
  return host === address.host && port === address.port && database === address.database
}

/**
 * The client, with a limit for each answer. Then nobody knows whether the statement took effect, and later ones would queue behind it: closing the
 * connection ends the transaction, so that none of it is stored.
 */
function bounded(
  client: ClientBase,
  { address, queryTimeoutMs }: GivenClientsParts,
): Pick<ClientBase, 'query'> {
  const query = (config: QueryConfig | string) =>
    within(queryTimeoutMs, client.query(config), () => {
      surviveErrorsOf(client)
      endSocket(client)
      return new StoreUnavailableError(
        `Belay got no answer from ${nameOf(address)} for ${queryTimeoutMs} ms in the transaction given as tx. It closed the transaction's connection, so nothing of the transaction is stored. Repeat the transaction; check that the server is up and that no lock holds its statements, or raise queryTimeoutMs.`,
      )
    })
  return { query } as Pick<ClientBase, 'query'>
}

/** Throws `invalid_option` unless a transaction is open on the client and has not failed. */
async function assertOpen(client: ClientBase, answering: Pick<ClientBase, 'query'>): Promise<void> {
  // Asks the server unless pg knows it: a BEGIN may be on its way, and older versions of pg do not track the status.
  if (client.getTransactionStatus?.() === 'T') return
  try {
    await answering.query('savepoint belay')
    await answering.query('release savepoint belay')
  } catch (error) {
    if (BelayError.is(error)) throw error
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
