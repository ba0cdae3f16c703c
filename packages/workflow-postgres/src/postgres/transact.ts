import type { Adapter, Settlement, Transacted, TransactRequest } from '@belay/workflow/adapter'
import type { ClientBase, PoolClient, QueryConfig, QueryResult } from 'pg'
import { type DatabaseAddress, noteOfDriver, noteStandby, outageOf } from '../base/errors.ts'
import { Turns } from '../base/turns.ts'
import { columnTypes } from '../connection/column-types.ts'
import type { Connection } from '../connection/connection.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { makeStatementsFor } from '../connection/statement.ts'
import { HandlerGuard } from '../transact/handler-guard.ts'
import { beginning, failedBefore, newMark, notCommitted, workWithin } from '../transact/settle-within.ts'
import { type Backend, endBackend, READ_BACKEND } from '../transact/step-backends.ts'
import { READ_SESSION, type StepSession, sessionOf } from '../transact/step-session.ts'
import { type LentSessions, mayUseNames, type SessionTrace } from './lent-session.ts'
import { loadDrizzle, stepTransaction } from './step-transaction.ts'
import { cutOff, StepWatch } from './step-watch.ts'

export interface TransactParts {
  readonly schema: string
  /** If omitted: by name, but not behind a pooler. */
  readonly prepare: boolean | undefined
  readonly address: DatabaseAddress
  /** How many transactions may be open at once. */
  readonly max: number
  /** How long a transaction may be open without a statement, in milliseconds. */
  readonly idleTimeoutMs: number
  /** How long the beginning, each statement of the settlement, and the end may take, in milliseconds. A handler's own statements have no limit. */
  readonly limitMs: number
  /** How often to check that the transactions of running handlers are still open, in milliseconds. */
  readonly watchEveryMs: number
  /** Belay's own connection. */
  readonly connection: Connection
  readonly sessions: LentSessions
  /** Takes a connection that nobody else uses, within a limit. Throws if none is possible. */
  connect(): Promise<PoolClient>
}

/**
 * How long the rollback may wait for a statement that the handler left running. Then its backend is terminated. Otherwise the backend would keep its
 * locks until the statement ends, even if nobody waits for it.
 */
const ROLLBACK_TIMEOUT_MS = 1_000

/**
 * Transactions of steps, each on its own connection. Belay's own waits have limits. The handler's statements have none, but `StepWatch` detects a
 * connection that died silently, and the transaction ends soon after the engine has cut the handler off.
 */
export function postgresTransact(parts: TransactParts): Adapter['transact'] {
  const turns = new Turns(parts.max)
  const own: OwnParts = {
    ...parts,
    watch: new StepWatch(parts.connection, parts.watchEveryMs),
    // Once for all transactions: the texts are long.
    statementFor: makeStatementsFor(parts.schema),
  }
  return async (request) => {
    const transacted = await turns.take(() => transactOnce(own, request), request.signal)
    return transacted ?? { type: 'rolled_back' }
  }
}

interface OwnParts extends TransactParts {
  readonly watch: StepWatch
  readonly statementFor: ReturnType<typeof makeStatementsFor>
}

async function transactOnce(parts: OwnParts, request: TransactRequest): Promise<Transacted> {
  // Side by side: loading takes a tenth of a second, once in a process.
  const [begun] = await Promise.all([begin(parts, request), loadDrizzle()])
  if (begun === null) return { type: 'rolled_back' }
  const { client, mark, backend, session } = begun
  const guard = new HandlerGuard()
  const unwatch = parts.watch.add({ ...backend, client })
  const noteEnd = (error: unknown) => guard.answered(error)
  let how: Ending = 'cut off'
  try {
    const over = bounded(client, parts.limitMs)
    // An idle connection reports its end in no other way.
    client.on('error', noteEnd)
    const connectionWith = (prepare: boolean) =>
      withSavepoints(statementsOver(over, { schema: parts.schema, prepare }, parts.statementFor))
    const open = {
      connection: connectionWith(false),
      named: (prepared: readonly string[]) =>
        connectionWith((parts.prepare ?? isDirect(client, backend)) && mayUseNames(client, prepared)),
      session,
      tx: stepTransaction(client, guard),
      mark,
      idleTimeoutMs: parts.idleTimeoutMs,
      settleTimeoutMs: parts.limitMs,
      storeFailure: (thrown?: unknown) => guard.storeFailure(thrown),
      close() {
        unwatch()
        return guard.close()
      },
    }
    const verdict = await workWithin(open, request)
    if (verdict.commit === undefined) {
      how = (await rolledBack(client)) ? 'ended' : 'held up'
      return named(verdict.rollBack, parts.address)
    }
    const transacted = await commit(over, verdict.commit)
    how = 'ended'
    return named(transacted, parts.address)
  } catch (error) {
    if (isLate(error)) how = 'held up'
    throw outageOf(error, parts.address)
  } finally {
    guard.close()
    unwatch()
    client.removeListener('error', noteEnd)
    void letGo(parts, { ...begun, guard, how })
  }
}

/** A failure of the store, with the store's name and a remedy. */
function named(transacted: Transacted, address: DatabaseAddress): Transacted {
  if (transacted.type !== 'unavailable') return transacted
  return { type: 'unavailable', error: outageOf(transacted.error, address) }
}

interface Begun {
  readonly client: PoolClient
  readonly mark: string
  readonly backend: Backend
  readonly session: StepSession
  readonly before: SessionTrace
}

/** Null if nobody waits for it any more. */
async function begin(parts: TransactParts, request: TransactRequest): Promise<Begun | null> {
  // Each closes one session that its pool still has from before.
  for (let tries = 0; tries < parts.max; tries += 1) {
    const begun = await beginOnce(parts, request)
    if (begun === null || !parts.sessions.isStale(begun.client, begun.before)) return begun
    begun.client.removeListener('error', ignore)
    begun.client.release(true)
  }
  return beginOnce(parts, request)
}

async function beginOnce(
  parts: TransactParts,
  { isolation, signal }: TransactRequest,
): Promise<Begun | null> {
  const mark = newMark()
  let client: PoolClient | undefined
  const giveUp = () => {
    if (client !== undefined) cutOff(client)
  }
  signal?.addEventListener('abort', giveUp)
  try {
    client = await unlessAborted(parts.connect(), signal)
    if (client === undefined) return null
    // A client outside the pool has no other listener: without this one, a broken connection would end the process.
    client.on('error', ignore)
    const { idleTimeoutMs, limitMs, sessions } = parts
    const asked = [READ_BACKEND, READ_SESSION, sessions.before]
    const text = `begin; ${beginning({ mark, idleTimeoutMs }, isolation)}; ${asked.join('; ')}`
    // pg returns one result per statement of the text; its types omit that.
    const results = (await bounded(client, limitMs).query({
      text,
      types: columnTypes,
    })) as unknown as readonly QueryResult[]
    const [backend, session, before] = results.slice(-asked.length).map(({ rows }) => rows[0])
    return { client, mark, backend, session: sessionOf(session), before }
  } catch (error) {
    client?.removeListener('error', ignore)
    client?.release(true)
    if (signal?.aborted === true) return null
    throw outageOf(noteStandby(error), parts.address)
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Undefined if nobody waits for it any more: a client that arrives later goes back to its pool. */
async function unlessAborted(
  connecting: Promise<PoolClient>,
  signal: AbortSignal | undefined,
): Promise<PoolClient | undefined> {
  let giveUp = () => {}
  const aborted = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined)
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted === true) giveUp()
  })
  try {
    const client = await Promise.race([aborted, connecting])
    if (client === undefined) connecting.then((late) => late.release(), ignore)
    return client
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Applies this limit to every statement of a client. */
function bounded(client: ClientBase, limitMs: number): Pick<ClientBase, 'query'> {
  // pg also accepts the limit for a single query; its types omit it.
  const query = (config: QueryConfig | string) =>
    client
      .query({
        query_timeout: limitMs,
        ...(typeof config === 'string' ? { text: config } : config),
      } as QueryConfig)
      .catch((error: unknown) => {
        throw noteOfDriver(error)
      })
  return { query } as Pick<ClientBase, 'query'>
}

async function commit(over: Pick<ClientBase, 'query'>, settlement: Settlement): Promise<Transacted> {
  try {
    const { command } = await over.query('commit')
    return command === 'COMMIT' ? { type: 'settled', settlement } : failedBefore()
  } catch (error) {
    return notCommitted(error)
  }
}

/** False if the connection must be closed. */
function rolledBack(client: ClientBase): Promise<boolean> {
  return bounded(client, ROLLBACK_TIMEOUT_MS)
    .query('rollback')
    .then(
      () => true,
      () => false,
    )
}

/** How a transaction ended. `held up`: a statement took longer than Belay waits, and may still run in the server. */
type Ending = 'ended' | 'cut off' | 'held up'

// pg reports its own timeout without a code.
function isLate(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Releases the connection. The step does not wait for it. */
async function letGo(
  { sessions, connection }: TransactParts,
  lent: Begun & { readonly guard: HandlerGuard; readonly how: Ending },
): Promise<void> {
  const { client, backend, guard, how } = lent
  if (how !== 'ended') client.release(true)
  else if (isDirect(client, backend)) await sessions.giveBack(client, lent)
  // Behind a pooler, the next statement may run in another session, which is not ours to reset.
  else client.release(guard.leavesTraces)
  client.removeListener('error', ignore)
  // A backend that runs a statement does not notice that its client is gone.
  if (how === 'held up') await connection.query(endBackend, [backend.pid, backend.since]).catch(ignore)
}

/** Whether the session is the connection's own: then its process is the one that the server named on connecting. */
function isDirect(client: ClientBase, { pid }: Backend): boolean {
  return (client as { processID?: unknown }).processID === pid
}

function ignore() {}
