import type { ClientBase, PoolClient } from 'pg'
import { requestCancel } from './cancel-request.ts'
import { endSocket } from './pool.ts'
import { type SessionFacts, SINCE } from './session.ts'

export interface AbandonedParts {
  /** What is known of the sessions of clients. */
  readonly sessions: WeakMap<object, SessionFacts>
  /** Asks the server over a connection that is not part of the pool. Rejects when it cannot be asked within a short time. */
  readonly ask: Ask
  /** Keeps that connection open. Returns how to let go of it. */
  readonly hold: () => () => void
}

export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>
type Row = Readonly<Record<string, unknown>>

interface ParkedClient {
  asked: number
  readonly release: () => void
}

const ROUND_MS = 1_000

// A session that was cancelled this often and is still there doesn't listen, or answers nobody: it is ended.
const CANCELLED_MAX = 3

// Behind a pooler nobody can tell when a client's statement has ended.
const POOLED_ROUNDS_MAX = 30

/**
 * Clients whose statement was given up. They stay out of their pool, which still counts them, until the answer comes after all, or the
 * server says that their session is gone: a statement that nobody waits for any more still costs the server a session.
 *
 * Nothing is cancelled while it waits for a standby to have its commit: the server would then report a commit that the standby may not have.
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

  /** Asks the server to cancel a client's statement. Resolves to whether it was waiting for a lock. */
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
      // The statement's own end, or the rounds, have to do.
    }
    return false
  }

  /** Keeps a client that was lent and got no answer. */
  park(client: PoolClient): void {
    const release = () => client.release(true)
    if (this.#answered.has(client)) return release()
    this.#parked.set(client, { asked: 0, release })
    if (this.#isClosed) return endSocket(client)
    this.#letGo ??= this.#parts.hold()
    this.#plan()
  }

  /** The answer came, or the connection broke. */
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

  /** Ends the connections of all that is left. */
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
      // Where nothing can be asked nothing can be opened either: the next round tries again.
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
    // The pooler closes the session with it.
    if (parked.asked > POOLED_ROUNDS_MAX) endSocket(client)
    else void this.cancel(client)
  }
}

/** Ends sessions, or what they are doing. One row each, in the order given. */
export const END_STATEMENTS = `
select a.pid is not null as is_alive, coalesce(a.wait_event_type = 'Lock', false) as is_locked,
  case when a.pid is null or coalesce(a.wait_event = 'SyncRep', false) then null
    when s.is_final then pg_catalog.pg_terminate_backend(a.pid)
    else pg_catalog.pg_cancel_backend(a.pid)
  end as is_told
from unnest($1::int[], $2::bigint[], $3::boolean[]) with ordinality as s (pid, since, is_final, place)
left join pg_catalog.pg_stat_activity a on a.pid = s.pid and ${SINCE} = s.since
order by s.place`

/** Whether any session of this user waits for a standby: behind a pooler it cannot be known whose it is. */
const FIND_REPLICATING = `
select exists (
  select from pg_catalog.pg_stat_activity a where a.usename = current_user and a.wait_event = 'SyncRep'
) as is_replicating`
