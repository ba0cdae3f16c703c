import { BelayError, StoreUnavailableError } from '@belay/workflow/adapter'
import type { Client, ClientBase, Pool, QueryConfig } from 'pg'
import { classified, codeOf, type DatabaseAddress, nameOf, noteSqlState } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { within } from '../connection/within.ts'
import { boundedClient } from '../given/bounded-client.ts'
import {
  type HeldTransaction,
  isShape,
  MisshapenError,
  type TextTransaction,
} from '../given/given-transaction.ts'
import { isPgClient } from '../given/libraries/pg.ts'
import { recognise, refused } from '../given/recognise.ts'
import { textConnections } from '../given/text-connection.ts'
import { clientsOf, endSocket, surviveErrorsOf } from './pool.ts'

export const ADAPTER = 'postgres()'

export interface OpenTransactionParts {
  readonly schema: string
  readonly address: DatabaseAddress
  /** Belay's own pool. */
  readonly pool: Pool
  /** The longest wait for the answer to one statement in the caller's transaction, in milliseconds. */
  readonly queryTimeoutMs: number
}

/** The caller's transaction, ready for statements. */
export interface OpenTransaction {
  /** Stands for its connection, or for the transaction where the connection cannot be known. */
  readonly key: object
  readonly over: Connection
  /** Whether it is certainly in the adapter's own database. */
  readonly leadsHere: boolean
  /** Throws `invalid_option` unless a transaction is open on it and has not failed. */
  assertOpen(): Promise<void>
}

/** Finds the transaction in what a caller gave as `tx`. Throws `invalid_option` if there is none. */
export function openTransactions(
  parts: OpenTransactionParts,
): (tx: unknown) => OpenTransaction | Promise<OpenTransaction> {
  const told = (error: unknown) => toldOf(error, parts.address)
  const textConnection = textConnections(parts.schema, told)
  return (tx) => {
    const given = recognise(tx, ADAPTER)
    switch (given.driver) {
      case 'pg':
        return ofClient(given.client, parts)
      case 'held':
        return heldClient(given, parts).then((client) => ofClient(client, parts))
      case 'text':
        return ofLibrary(given, textConnection, parts)
      case 'pglite':
        throw refused(ADAPTER, 'is a transaction of PGlite')
    }
  }
}

/** The error that the caller sees of a library's transaction: the library's own, unless Belay knows a better one. */
function toldOf(error: unknown, address: DatabaseAddress): unknown {
  try {
    if (error instanceof MisshapenError) return refused(ADAPTER, error.message)
    return classified(noteSqlState(error), address)
  } catch (cause) {
    return new Error('The client of the transaction threw an error that cannot be read.', { cause })
  }
}

function ofClient(client: ClientBase, parts: OpenTransactionParts): OpenTransaction {
  const answering = bounded(client, parts)
  const over = statementsOver(answering, { schema: parts.schema, prepare: false })
  return {
    key: client,
    over: withSavepoints(over),
    leadsHere: leadsHere(client, parts),
    async assertOpen() {
      // Asks the server unless pg knows it: a BEGIN may be on its way, and older versions of pg do not track the status.
      if (client.getTransactionStatus?.() === 'T') return
      await assertAnswers(async () => {
        await answering.query('savepoint belay')
        await answering.query('release savepoint belay')
      })
    },
  }
}

/** The client of pg that a library's transaction uses. */
async function heldClient(
  { library, connection }: HeldTransaction,
  parts: OpenTransactionParts,
): Promise<ClientBase> {
  try {
    const finding = (async () => connection())()
    const client = await within(parts.queryTimeoutMs, finding, () => unanswered(parts))
    if (isPgClient(client)) return client
  } catch (error) {
    const told = toldOf(error, parts.address)
    if (BelayError.is(told)) throw told
    throw refused(ADAPTER, `is a transaction of ${library} that gives no connection`, told)
  }
  throw refused(ADAPTER, `is a transaction of ${library} over another driver than pg`)
}

function ofLibrary(
  { key, client }: TextTransaction,
  textConnection: ReturnType<typeof textConnections>,
  parts: OpenTransactionParts,
): OpenTransaction {
  const late = () => unanswered(parts)
  const answering = boundedClient(client, key, { limitMs: parts.queryTimeoutMs, late })
  const over = textConnection(answering)
  return {
    key,
    over,
    leadsHere: false,
    assertOpen: () => assertAnswers(() => over.transaction(async () => {})),
  }
}

function unanswered({ address, queryTimeoutMs }: OpenTransactionParts): StoreUnavailableError {
  return new StoreUnavailableError(
    `Belay got no answer from ${nameOf(address)} for ${queryTimeoutMs} ms in the transaction given as tx. Belay cannot close the transaction's connection, and the statement may still run.`,
    {
      remedy:
        'Roll the transaction back and discard its connection, then repeat it; check that the server is up and that no lock holds its statements, or raise queryTimeoutMs.',
    },
  )
}

/** Whether a client belongs to the pool, or connects to the same place as the pool's clients. */
function leadsHere(client: ClientBase, { pool, address }: OpenTransactionParts): boolean {
  if (clientsOf(pool).includes(client)) return true
  // A custom stream to the server, as for proxies of cloud providers: then the address means nothing.
  if (pool.options.stream !== undefined) return false
  const { host, port, database } = client as Partial<Client>
  return host === address.host && port === address.port && database === address.database
}

/** What was given may only look like a client of pg, and then has no connection to close. */
function close(client: ClientBase): void {
  try {
    surviveErrorsOf(client)
    endSocket(client)
  } catch {
    // Its caller is told that nothing answered.
  }
}

/**
 * The client, with a limit for each answer. Then nobody knows whether the statement took effect, and later ones would queue behind it: closing the
 * connection ends the transaction, so that none of it is stored.
 */
function bounded(
  client: ClientBase,
  { address, queryTimeoutMs }: OpenTransactionParts,
): Pick<ClientBase, 'query'> {
  const late = () => {
    close(client)
    return new StoreUnavailableError(
      `Belay got no answer from ${nameOf(address)} for ${queryTimeoutMs} ms in the transaction given as tx. It closed the transaction's connection, so nothing of the transaction is stored.`,
      {
        remedy:
          'Repeat the transaction; check that the server is up and that no lock holds its statements, or raise queryTimeoutMs.',
      },
    )
  }
  const query = async (config: QueryConfig | string) => {
    try {
      const result: unknown = await within(queryTimeoutMs, client.query(config), late)
      if (isShape(result) && Array.isArray(result['rows'])) return result
      throw new MisshapenError('has a query() that resolved to no rows')
    } catch (error) {
      throw toldOf(error, address)
    }
  }
  return { query } as unknown as Pick<ClientBase, 'query'>
}

async function assertAnswers(ask: () => Promise<void>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    // Without a cause, it is not the client's: no answer came, or one that no database gives.
    if (BelayError.is(error) && error.cause === undefined) throw error
    throw refused(ADAPTER, CLOSED_TO[codeOf(error) ?? ''] ?? 'has no working connection', error)
  }
}

const CLOSED_TO: Readonly<Record<string, string>> = {
  '25P01': 'is a client on which no transaction is open',
  '25P02': 'is a transaction in which a statement has failed: it can only be rolled back',
  // Of Prisma.
  P2028: 'is a transaction that has ended',
}
