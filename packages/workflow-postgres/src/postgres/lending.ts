import { counted, StoreUnavailableError } from '@belay/workflow/adapter'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import {
  codeOf,
  connectErrorOf,
  contended,
  type DatabaseAddress,
  nameOf,
  noteOfDriver,
  READ_ONLY,
} from '../base/errors.ts'
import type { Lender, LentClient } from '../connection/pool-connection.ts'
import type { Abandoned } from './abandoned.ts'
import { watchConnects } from './connect-watch.ts'
import type { Notices } from './notices.ts'
import { CONNECT_TIMEOUT_MS, connectingClients, endSocket, isConnecting } from './pool.ts'
import { prepareSession, type SessionFacts } from './session.ts'

export interface LendingParts {
  readonly pool: Pool
  /** The name of the pool's option for its size, for messages. */
  readonly sizeOption: string
  readonly address: DatabaseAddress
  /** How long a statement may take. */
  readonly queryTimeoutMs: number
  /** Whether the pool's sessions are set up to end statements after that time by themselves. */
  readonly endsStatements: boolean
  /** The known facts about clients' sessions. */
  readonly sessions: WeakMap<object, SessionFacts>
  readonly abandoned: Abandoned
  readonly notices: Notices
  /** Called when a pooler was found between the clients and the server. */
  readonly onPooler: () => void
}

/** How long to wait for the answer to a cancelled statement. */
const GRACE_MS_MAX = 1_000

/**
 * Lends the clients of a pool. Every wait has a limit: for a client, and for an answer. A client that got no answer stays out of the pool until its
 * session is known to be gone. So the server never has more sessions from the pool than the pool's size.
 */
export class Lending implements Lender {
  readonly #parts: LendingParts

  constructor(parts: LendingParts) {
    this.#parts = parts
  }

  async lend<Result>(work: (client: LentClient) => Promise<Result>): Promise<Result> {
    const { sessions, onPooler } = this.#parts
    const lent = new Lent(await acquire(this.#parts), this.#parts)
    try {
      if (sessions.get(lent.client) === undefined) await lent.learn()
      if (lent.isPooled) onPooler()
      return await work(lent)
    } finally {
      lent.giveBack()
    }
  }
}

/**
 * A client of the pool, within a bounded time whatever the pool's own settings are. A pool without its own limit would wait for ever for a server that
 * accepts a connection and then says nothing, and would count that connection. So connections that got no answer during the whole wait are closed; a
 * watch closes those that were opened later.
 */
export function acquire(
  parts: Pick<LendingParts, 'pool' | 'sizeOption' | 'address'>,
  limitMs = CONNECT_TIMEOUT_MS,
): Promise<PoolClient> {
  const { pool } = parts
  // A pool with its own limit can better tell whether it is exhausted or cannot connect.
  const ownMs = pool.options.connectionTimeoutMillis ?? 0
  const withinMs = ownMs > 0 && ownMs <= limitMs ? 2 * limitMs : limitMs
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(exhausted(parts, withinMs))
      connecting.filter(isConnecting).forEach(endSocket)
    }, withinMs)
    pool.connect((error, client) => {
      clearTimeout(timer)
      if (isLate) client?.release()
      else if (client !== undefined) resolve(client)
      // pg gives the same error for an exhausted pool, and does not say so.
      else
        reject(
          error?.message.startsWith('timeout exceeded')
            ? exhausted(parts, ownMs)
            : connectErrorOf(error, parts.address),
        )
    })
    const mayConnect = ownMs === 0 && pool.idleCount === 0
    const connecting = mayConnect ? connectingClients(pool) : []
    if (mayConnect) watchConnects(pool, limitMs)
  })
}

function exhausted(
  { pool, sizeOption, address }: Pick<LendingParts, 'pool' | 'sizeOption' | 'address'>,
  waitedMs: number,
) {
  const connecting = connectingClients(pool).length
  const inUse = pool.totalCount - pool.idleCount - connecting
  const unanswered = connecting === 0 ? '' : `, ${connecting} got no answer from the server yet`
  return new StoreUnavailableError(
    `Belay waited ${waitedMs} ms for a connection to ${nameOf(address)}: of the ${counted(pool.options.max, 'connection')} in the pool, ${inUse} ${inUse === 1 ? 'is' : 'are'} in use${unanswered}, and ${counted(pool.waitingCount, 'call')} wait. Nothing was written.`,
    {
      remedy:
        connecting > inUse
          ? 'Check that the server answers.'
          : `Look for slow statements and long transactions, or raise ${sizeOption}.`,
    },
  )
}

/** One client while it is lent. */
class Lent implements LentClient {
  readonly client: PoolClient
  readonly #parts: LendingParts
  #isBroken = false
  #isParked = false

  constructor(client: PoolClient, parts: LendingParts) {
    this.client = client
    this.#parts = parts
  }

  get isPooled(): boolean {
    return this.#parts.sessions.get(this.client)?.isPooled ?? true
  }

  get isOwn(): boolean {
    return this.#parts.endsStatements && !this.isPooled
  }

  get isOdd(): boolean {
    return this.#parts.sessions.get(this.client)?.isOdd ?? false
  }

  /** Finds out which session the client uses. */
  async learn(): Promise<void> {
    const { sessions } = this.#parts
    const through = { query: (config: QueryConfig<unknown[]>) => this.query(config) }
    sessions.set(this.client, await prepareSession(this.client, [], through))
  }

  query(config: QueryConfig<unknown[]>, limitMs = this.#parts.queryTimeoutMs): Promise<QueryResult> {
    if (this.#isParked) return Promise.reject(unanswered(this.#parts, limitMs))
    return new Promise((resolve, reject) => {
      const statement = new Overdue()
      const timer = setTimeout(() => {
        void this.#cancel(statement, limitMs, reject)
      }, this.#patienceMs(limitMs))
      const answered = (error: unknown, result: QueryResult) => {
        clearTimeout(timer)
        statement.end()
        if (this.#isParked) return this.#parts.abandoned.answered(this.client)
        if (error === null || error === undefined) return resolve(result)
        if (!isOfStatement(error)) this.#isBroken = true
        noteOfDriver(error)
        void statement.explain(error).then(reject)
      }
      try {
        this.client.query(withoutTimeout(this.client, config), answered)
      } catch (error) {
        // A message that cannot even be written, like a value longer than any text may be, is not an outage.
        clearTimeout(timer)
        this.#isBroken = true
        reject(error)
      }
    })
  }

  giveBack(): void {
    if (this.#isParked) return this.#parts.abandoned.park(this.client)
    if (this.#isBroken) endSocket(this.client)
    this.client.release(this.#isBroken)
  }

  /** If the server has its own limit, it must end the statement first: its answer is definite. */
  #patienceMs(limitMs: number): number {
    return this.isOwn ? limitMs + Math.min(2_000, 0.2 * limitMs) : limitMs
  }

  async #cancel(statement: Overdue, limitMs: number, reject: (error: unknown) => void): Promise<void> {
    // The cancellation may arrive late and hit the session's next statement.
    this.#isBroken = true
    statement.cancelled = this.#parts.abandoned.cancel(this.client)
    await statement.endedWithin(Math.min(GRACE_MS_MAX, limitMs))
    if (statement.isEnded) return
    this.#isParked = true
    const error = unanswered(this.#parts, limitMs)
    const message = `${error.message} Its connection is not used until the server has ended its session.`
    this.#parts.notices.tell({ level: 'warn', code: 'statement_abandoned', message, error })
    reject(error)
  }
}

/** A statement that has exceeded its limit. */
class Overdue {
  isEnded = false
  /** Resolves to whether the statement was waiting for a lock when its cancellation was requested. */
  cancelled: Promise<boolean> | undefined
  #onEnd: (() => void) | undefined

  end(): void {
    this.isEnded = true
    this.#onEnd?.()
  }

  endedWithin(ms: number): Promise<void> {
    if (this.isEnded) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#onEnd = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** A statement that was cancelled while it waited for a lock is reported as such. */
  async explain(error: unknown): Promise<unknown> {
    const wasWaiting =
      this.cancelled !== undefined && codeOf(error) === QUERY_CANCELED && (await this.cancelled)
    return wasWaiting ? contended(error) : error
  }
}

const QUERY_CANCELED = '57014'

// A read-only session serves a transaction that begins `read write`. If that fails too, the server is a standby, and the session is of no use.
const OF_STATEMENT: ReadonlySet<string> = new Set(['55P03', QUERY_CANCELED, READ_ONLY])

/** An error of the statement alone: its session stays usable. */
function isOfStatement(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return /^(22|23|40|54)[0-9A-Z]{3}$/.test(code) || OF_STATEMENT.has(code)
}

/** The application's own limit would only stop waiting for the statement, and let it run on in the server. */
function withoutTimeout(client: PoolClient, config: QueryConfig<unknown[]>): QueryConfig<unknown[]> {
  const { connectionParameters } = client as { connectionParameters?: { query_timeout?: unknown } }
  if (!connectionParameters?.query_timeout) return config
  return { ...config, query_timeout: LONGEST_TIMER_MS } as QueryConfig<unknown[]>
}

const LONGEST_TIMER_MS = 2_147_483_647

function unanswered({ address }: LendingParts, limitMs: number): StoreUnavailableError {
  return new StoreUnavailableError(
    `Belay got no answer from ${nameOf(address)} for ${limitMs} ms, so it cannot know whether its statement took effect.`,
    {
      remedy:
        'It tries again; check that the server is up and its disk and standbys keep pace, or raise queryTimeoutMs.',
    },
  )
}
