import type { ClientBase, PoolClient } from 'pg'
import { requestCancel } from './cancel-request.ts'
import { endSocket } from './pool.ts'
import { type SessionFacts, SINCE } from './session.ts'

export interface AbandonedParts {
  /** The known facts about clients' sessions. */
  readonly sessions: WeakMap<object, SessionFacts>
  /** Asks the server over a connection outside the pool. Rejects if it gets no answer within a short time. */
  readonly ask: Ask
  /** Keeps that connection open. Returns a function that releases it. */
  readonly hold: () => () => void
}

export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>
type Row = Readonly<Record<string, unknown>>

interface ParkedClient {
  asked: number
  readonly release: () => void
}

const ROUND_MS = 1_000

// A session that is still there after this many cancellations ignores them: it is terminated.
const CANCELLED_MAX = 3

// Behind a pooler nobody can tell when a client's statement has ended. After this many rounds the client's connection is closed.
const POOLED_ROUNDS_MAX = 30

/**
 * Clients whose statement timed out. Such a statement still occupies a session on the server. So its client stays out of the pool, which still counts
 * it, until the answer arrives after all or the server says that the session is gone.
 *
 * A statement that waits for a standby to confirm its commit is not cancelled: the server would then report a commit that the standby may not have.
 */
export class Abandoned {
  readonly #parts: AbandonedParts
  readonly #parked = new Map<PoolClient, ParkedClient>()
  readonly #answered = new WeakSet<PoolClient>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #letGo: (() => void) | undefined
  #isClosed = false

  constructor(parts: AbandonedParts) {
    this.#parts = parts
  }

  /** Asks the server to cancel a client's statement. Resolves to whether the statement was waiting for a lock. */
  async cancel(client: ClientBase): Promise<boolean> {
    const { sessions, ask } = this.#parts
    const session = sessions.get(client)
    try {
      if (session?.isPooled === false) {
        const [row] = await ask(END_STATEMENTS, [[session.pid], [session.since], [false]])
        return row?.['is_locked'] === true
      }
      const [row] = await ask(FIND_REPLICATING, [])
      if (row?.['is_replicating'] === false) await requestCancel(client)
    } catch {
      // The statement ends by itself, or a later round asks again.
    }
    return false
  }

  /** Keeps a lent client that got no answer. */
  park(client: PoolClient): void {
    const release = () => client.release(true)
    if (this.#answered.has(client)) return release()
    this.#parked.set(client, { asked: 0, release })
    if (this.#isClosed) return endSocket(client)
    this.#letGo ??= this.#parts.hold()
    this.#plan()
  }

  /** The answer arrived, or the connection broke. */
  answered(client: PoolClient): void {
    this.#answered.add(client)
    const parked = this.#parked.get(client)
    if (parked === undefined) return
    this.#parked.delete(client)
    parked.release()
    if (this.#parked.size > 0) return
    this.#letGo?.()
    this.#letGo = undefined
  }

  /** Closes the connections of all remaining clients. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const client of this.#parked.keys()) endSocket(client)
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#parked.size === 0) return
    this.#timer = setTimeout(() => {
      void this.#round().finally(() => {
        this.#timer = undefined
        this.#plan()
      })
    }, ROUND_MS)
    this.#timer.unref()
  }

  async #round(): Promise<void> {
    const clients = [...this.#parked.keys()]
    const isDirect = (client: PoolClient) => this.#parts.sessions.get(client)?.isPooled === false
    const direct = clients.filter(isDirect)
    try {
      if (direct.length > 0) await this.#endStatements(direct)
    } catch {
      // A server that cannot be asked has no session to spare either: the next round tries again.
    }
    for (const client of clients) if (!isDirect(client)) this.#endPooled(client)
  }

  async #endStatements(clients: readonly PoolClient[]): Promise<void> {
    const sessions = clients.map((client) => this.#parts.sessions.get(client)!)
    const rows = await this.#parts.ask(END_STATEMENTS, [
      sessions.map(({ pid }) => pid),
      sessions.map(({ since }) => since),
      clients.map((client) => (this.#parked.get(client)?.asked ?? 0) >= CANCELLED_MAX),
    ])
    clients.forEach((client, index) => {
      const parked = this.#parked.get(client)
      if (parked !== undefined) parked.asked += 1
      if (rows[index]?.['is_alive'] === false) endSocket(client)
    })
  }

  #endPooled(client: PoolClient): void {
    const parked = this.#parked.get(client)
    if (parked === undefined) return
    parked.asked += 1
    // The pooler closes the session with the connection.
    if (parked.asked > POOLED_ROUNDS_MAX) endSocket(client)
    else void this.cancel(client)
  }
}

/** Cancels the sessions' statements, or terminates the sessions. One row each, in the given order. */
export const END_STATEMENTS = `
select a.pid is not null as is_alive, coalesce(a.wait_event_type = 'Lock', false) as is_locked,
  case when a.pid is null or coalesce(a.wait_event = 'SyncRep', false) then null
    when s.is_final then pg_catalog.pg_terminate_backend(a.pid)
    else pg_catalog.pg_cancel_backend(a.pid)
  end as is_told
from unnest($1::int[], $2::bigint[], $3::boolean[]) with ordinality as s (pid, since, is_final, place)
left join pg_catalog.pg_stat_activity a on a.pid = s.pid and ${SINCE} = s.since
order by s.place`

/** Whether any session of this user waits for a standby. Behind a pooler nobody can tell which client's session that is. */
const FIND_REPLICATING = `
select exists (
  select from pg_catalog.pg_stat_activity a where a.usename = current_user and a.wait_event = 'SyncRep'
) as is_replicating`
