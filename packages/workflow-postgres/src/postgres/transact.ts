import type { Adapter, Settlement, Transacted, TransactRequest } from '@belay/workflow/adapter'
import type { ClientBase, PoolClient, QueryConfig, QueryResult } from 'pg'
import { type DatabaseAddress, noteOfDriver, outageOf } from '../base/errors.ts'
import { Turns } from '../base/turns.ts'
import { columnTypes } from '../connection/column-types.ts'
import type { Connection } from '../connection/connection.ts'
import { withSavepoints } from '../connection/given-transaction.ts'
import { statementsOver } from '../connection/pool-connection.ts'
import { makeStatementsFor } from '../connection/statement.ts'
import { HandlerGuard } from '../transact/handler-guard.ts'
import { beginning, failedBefore, newMark, notCommitted, workWithin } from '../transact/settle-within.ts'
import { type Backend, endBackend, READ_BACKEND } from '../transact/step-backends.ts'
import { READ_SESSION, type StepSession, sessionOf } from '../transact/step-session.ts'
import { type LentSessions, mayUseNames, type SessionTrace } from './lent-session.ts'
import { stepTransaction } from './step-transaction.ts'
import { cutOff, StepWatch } from './step-watch.ts'

export interface TransactParts {
  readonly schema: string
  /** Left out: by name where the session is the connection's own, and not behind a pooler. */
  readonly prepare: boolean | undefined
  readonly address: DatabaseAddress
  /** Transactions open at once. */
  readonly max: number
  /** How long a transaction may be open without a statement. */
  readonly idleTimeoutMs: number
  /** How long the beginning, each statement of the settlement, and the end may take. A handler's own statements may take their time. */
  readonly limitMs: number
  /** How often it is asked whether transactions that handlers have are still open. */
  readonly watchEveryMs: number
  /** Belay's own. */
  readonly connection: Connection
  readonly sessions: LentSessions
  /** Takes a connection that nobody else uses, within a limit. Throws when there can be none. */
  connect(): Promise<PoolClient>
}

/**
 * How long a statement that the handler left behind may hold up the rollback. Then its backend is ended, which would else keep what it has
 * locked until the statement is through, whether or not anybody still listens.
 */
const ROLLBACK_TIMEOUT_MS = 1_000

/**
 * Transactions of steps, each on a connection of its own. Every wait of Belay's has a limit. The handler's statements have none, but a
 * connection that has died in silence is noticed (`StepWatch`), and the whole ends soon after the engine has cut the handler off.
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
  const begun = await begin(parts, request)
  if (begun === null) return { type: 'rolled_back' }
  const { client, mark, backend, session } = begun
  const guard = new HandlerGuard()
  const unwatch = parts.watch.add({ ...backend, client })
  let how: Ending = 'cut off'
  try {
    const over = bounded(client, parts.limitMs)
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
      close() {
        unwatch()
        return guard.close()
      },
    }
    const verdict = await workWithin(open, request)
    if (verdict.commit === undefined) {
      how = (await rolledBack(client)) ? 'ended' : 'held up'
      return verdict.rollBack
    }
    const transacted = await commit(over, verdict.commit)
    how = 'ended'
    return transacted
  } catch (error) {
    if (isLate(error)) how = 'held up'
    throw outageOf(error, parts.address)
  } finally {
    guard.close()
    unwatch()
    void letGo(parts, { ...begun, guard, how })
  }
}

interface Begun {
  readonly client: PoolClient
  readonly mark: string
  readonly backend: Backend
  readonly session: StepSession
  readonly before: SessionTrace | null
}

/** Null when nobody waits for it any more. */
async function begin(parts: TransactParts, { isolation, signal }: TransactRequest): Promise<Begun | null> {
  const mark = newMark()
  let client: PoolClient | undefined
  const giveUp = () => {
    if (client !== undefined) cutOff(client)
  }
  signal?.addEventListener('abort', giveUp)
  try {
    client = await unlessAborted(parts.connect(), signal)
    if (client === undefined) return null
    // While it is out of the pool, nobody else listens: without this a broken connection would end the process.
    client.on('error', ignore)
    const { idleTimeoutMs, limitMs, sessions } = parts
    const asked = [READ_BACKEND, READ_SESSION, ...(sessions.before === null ? [] : [sessions.before])]
    const text = `begin; ${beginning({ mark, idleTimeoutMs }, isolation)}; ${asked.join('; ')}`
    // A text of several statements has a result for each, which its type doesn't say.
    const results = (await bounded(client, limitMs).query({
      text,
      types: columnTypes,
    })) as unknown as readonly QueryResult[]
    const [backend, session, before] = results.slice(-asked.length).map(({ rows }) => rows[0])
    return { client, mark, backend, session: sessionOf(session), before: before ?? null }
  } catch (error) {
    client?.removeListener('error', ignore)
    client?.release(true)
    if (signal?.aborted === true) return null
    throw outageOf(error, parts.address)
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Undefined when nobody waits for it any more: a client that comes later goes back to its pool. */
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

/** A client whose every statement has this limit. */
function bounded(client: ClientBase, limitMs: number): Pick<ClientBase, 'query'> {
  // pg takes it for a single query too, which its types don't say.
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

/** False when the connection has to be closed for it. */
function rolledBack(client: ClientBase): Promise<boolean> {
  return bounded(client, ROLLBACK_TIMEOUT_MS)
    .query('rollback')
    .then(
      () => true,
      () => false,
    )
}

/** How a transaction came to its end; `held up`: something in it took longer than Belay waits, and may go on in the server. */
type Ending = 'ended' | 'cut off' | 'held up'

// pg reports its own limit without a code.
function isLate(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Lets the connection go. Whatever is to be done for that, the step does not wait for it. */
async function letGo(
  { sessions, connection }: TransactParts,
  lent: Begun & { readonly guard: HandlerGuard; readonly how: Ending },
): Promise<void> {
  const { client, backend, guard, how } = lent
  if (how !== 'ended') client.release(true)
  else if (isDirect(client, backend)) await sessions.giveBack(client, lent)
  // Behind a pooler the next statement may meet another session, which is not ours to reset.
  else client.release(guard.leavesTraces)
  client.removeListener('error', ignore)
  // A backend that is in a statement does not notice that nobody listens any more.
  if (how === 'held up') await connection.query(endBackend, [backend.pid, backend.since]).catch(ignore)
}

/** Whether the session is the connection's own: the server told its process when it was connected to. */
function isDirect(client: ClientBase, { pid }: Backend): boolean {
  return (client as { processID?: unknown }).processID === pid
}

function ignore() {}
