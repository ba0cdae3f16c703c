import type { Adapter, Settlement, Transacted, TransactRequest } from '@belay/workflow/adapter'
import type { ClientBase, PoolClient, QueryResult } from 'pg'
import { columnTypes } from '../connection/column-types.ts'
import type { Connection } from '../connection/connection.ts'
import { withSavepoints } from '../connection/given-transaction.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { classified, type DatabaseAddress } from '../errors.ts'
import { HandlerGuard } from '../handler-guard.ts'
import { endBackend } from '../statements/read-store.ts'
import { beginning, failedBefore, newMark, notCommitted, workWithin } from '../transact.ts'
import { Turns } from '../turns.ts'
import { stepTransaction } from './step-transaction.ts'

export interface TransactParts {
  readonly schema: string
  readonly prepare: boolean
  readonly address: DatabaseAddress
  /** Transactions open at once. */
  readonly max: number
  /** How long a transaction may be open without a statement. */
  readonly idleTimeoutMs: number
  /** Belay's own. */
  readonly connection: Connection
  /** Takes a connection that nobody else uses. Throws when there can be none. */
  connect(): Promise<PoolClient>
}

/**
 * How long a statement that the handler left behind may hold up the rollback. Then its backend is ended, which would else keep what it has
 * locked until the statement is through, whether or not anybody still listens.
 */
const ROLLBACK_TIMEOUT_MS = 1_000

/** Transactions of steps, each on a connection of its own. */
export function postgresTransact(parts: TransactParts): Adapter['transact'] {
  const turns = new Turns(parts.max)
  return (request) => turns.take(() => transactOnce(parts, request))
}

async function transactOnce(parts: TransactParts, request: TransactRequest): Promise<Transacted> {
  const { client, mark, backend } = await begin(parts, request)
  const guard = new HandlerGuard()
  let broken: Error | boolean = true
  try {
    const open = {
      connection: withSavepoints(statementsOver(client, parts)),
      tx: stepTransaction(client, guard),
      mark,
      idleTimeoutMs: parts.idleTimeoutMs,
      close: () => guard.close(),
    }
    const verdict = await workWithin(open, request)
    if (verdict.commit === undefined) {
      broken = !(await rolledBack(client))
      if (broken) parts.connection.query(endBackend, backend).catch(ignore)
      return verdict.rollBack
    }
    const transacted = await commit(client, verdict.commit)
    broken = false
    return transacted
  } catch (error) {
    throw classified(error, parts.address)
  } finally {
    guard.close()
    client.removeListener('error', ignore)
    client.release(broken)
  }
}

async function begin(parts: TransactParts, { isolation }: TransactRequest) {
  const mark = newMark()
  let client: PoolClient | undefined
  try {
    client = await parts.connect()
    // While it is out of the pool, nobody else listens: without this a broken connection would end the process.
    client.on('error', ignore)
    const text = `begin; ${beginning({ mark, idleTimeoutMs: parts.idleTimeoutMs }, isolation)}; ${READ_BACKEND}`
    // A text of several statements has a result for each, which its type doesn't say.
    const results = (await client.query({ text, types: columnTypes })) as unknown as readonly QueryResult[]
    const { pid, since } = results.at(-1)!.rows[0]
    return { client, mark, backend: [pid, since] as const }
  } catch (error) {
    client?.removeListener('error', ignore)
    client?.release(true)
    throw classified(error, parts.address)
  }
}

const READ_BACKEND = 'select pg_catalog.pg_backend_pid() as pid, pg_catalog.now()::text as since'

async function commit(client: ClientBase, settlement: Settlement): Promise<Transacted> {
  try {
    const { command } = await client.query('commit')
    return command === 'COMMIT' ? { type: 'settled', settlement } : failedBefore()
  } catch (error) {
    return notCommitted(error)
  }
}

/** False when the connection has to be closed for it. */
async function rolledBack(client: ClientBase): Promise<boolean> {
  // pg takes the timeout for a single query too, which its types don't say.
  const rollback: { text: string; query_timeout: number } = {
    text: 'rollback',
    query_timeout: ROLLBACK_TIMEOUT_MS,
  }
  return client.query(rollback).then(
    () => true,
    () => false,
  )
}

function ignore() {}
