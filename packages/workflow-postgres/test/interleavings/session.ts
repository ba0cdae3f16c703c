import { randomUUID } from 'node:crypto'
import { BelayError } from '@belay/workflow'
import pg from 'pg'
import { type PostgresAdapter, postgres } from '../../src/index.ts'
import { ARM, READ_POINTS } from './stops.ts'

/** Where a session stops: before its nth statement (from 0) is sent, or at a point inside that statement (from 1). */
export interface Stop {
  readonly statement: number
  readonly point: number
}

/** A statement that a session has sent, and the points it passed. */
export interface Passed {
  readonly statement: string
  readonly points: readonly string[]
}

export type State = 'ended' | 'stopped' | 'blocked' | 'running'

type Send = (...query: readonly unknown[]) => Promise<unknown>

/**
 * A worker's own connection to the store, as in another process. It can be stopped between its statements and inside them. Stopped inside a
 * statement, it waits for an advisory lock that `observer`, a connection of the test, holds until it lets the session go on.
 */
export class Session {
  readonly workerId = randomUUID()
  readonly adapter: PostgresAdapter
  passed: Passed[] = []
  readonly #observer: pg.Client
  readonly #lock: number
  readonly #schema: string
  #stop: Stop | null = null
  #observed = false
  #pid: number | null = null
  #atGate = false
  #openGate: () => void = () => {}

  constructor(parts: { url: string; schema: string; observer: pg.Client; lock: number }) {
    this.#observer = parts.observer
    this.#lock = parts.lock
    this.#schema = parts.schema
    this.adapter = postgres(
      { connectionString: parts.url, Client: gated((text, client, send) => this.#pass(text, client, send)) },
      { schema: parts.schema, listen: false, connectionsMax: 2 },
    )
  }

  /** Begins work that stops there; with null, it does not stop. The answer comes after the release. */
  async begin<Answer>(work: () => Promise<Answer>, stop: Stop | null): Promise<Begun<Answer>> {
    await this.#observer.query('select pg_advisory_lock($1)', [this.#lock])
    this.passed = []
    this.#stop = stop
    this.#observed = true
    let ended = false
    const answer = settled(whileContended(work)).finally(() => {
      ended = true
      this.#observed = false
    })
    return { answer, state: async () => (ended ? 'ended' : this.#state()) }
  }

  /** Lets it go on. It does not stop again. */
  async release(): Promise<void> {
    this.#stop = null
    this.#openGate()
    await this.#observer.query('select pg_advisory_unlock($1)', [this.#lock])
  }

  async #state(): Promise<State> {
    if (this.#atGate) return 'stopped'
    const waits = await this.#observer.query<{ stopped: boolean }>(
      `select locktype = 'advisory' as stopped from pg_locks where pid = $1 and not granted`,
      [this.#pid],
    )
    if (waits.rows[0] === undefined) return 'running'
    return waits.rows[0].stopped ? 'stopped' : 'blocked'
  }

  /** Around every statement on the store's tables. */
  async #pass(config: QueryText, client: Send, send: () => Promise<unknown>): Promise<unknown> {
    const text = typeof config === 'string' ? config : config.text
    if (!this.#observed || !text.includes(this.#schema)) return send()
    const stop = this.#stop?.statement === this.passed.length ? this.#stop.point : null
    const passed = { statement: nameOf(config), points: [] as readonly string[] }
    this.passed.push(passed)
    if (stop === 0) await this.#waitAtGate()
    const armed = (await client(ARM, [String(stop ?? -1), String(this.#lock)])) as pg.QueryResult
    this.#pid = armed.rows[0].pid
    try {
      return await send()
    } finally {
      // In a failed transaction, queries fail.
      const read = await client(READ_POINTS).catch(() => undefined)
      passed.points = (read as pg.QueryResult | undefined)?.rows[0].points ?? []
    }
  }

  async #waitAtGate(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#openGate = resolve
      this.#atGate = true
    })
    this.#atGate = false
  }
}

export interface Begun<Answer> {
  readonly answer: Promise<PromiseSettledResult<Answer>>
  state(): Promise<State>
}

type QueryText = string | { readonly text: string; readonly name?: string }

function nameOf(config: QueryText): string {
  if (typeof config === 'string') return config.slice(0, 30)
  return config.name?.replace(/^belay_(.*)_[0-9a-f]+$/, '$1') ?? config.text.trim().slice(0, 30)
}

/** pg's client, with a function around each of its queries. */
function gated(around: (config: QueryText, client: Send, send: () => Promise<unknown>) => Promise<unknown>) {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      const client = this.query.bind(this) as unknown as Send
      const query = (config: QueryText, ...rest: unknown[]) => {
        const callback = rest.findLast((each) => typeof each === 'function')
        const values = rest.filter((each) => each !== undefined && each !== callback)
        const answer = around(config, client, () => client(config, ...values))
        if (callback === undefined) return answer
        // Like pg: the callback runs outside every promise, so that its errors are not taken for the query's failure.
        answer.then(
          (result) => process.nextTick(callback as Callback, null, result),
          (error) => process.nextTick(callback as Callback, error),
        )
        return undefined
      }
      this.query = query as unknown as pg.Client['query']
    }
  }
}

type Callback = (error: unknown, result?: unknown) => void

// On a busy machine, a stop may last longer than the store waits for a locked row. Then the callers call again.
const CALLS_MAX = 20

async function whileContended<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let calls = 1; ; calls += 1) {
    try {
      return await work()
    } catch (error) {
      if (!BelayError.is(error) || error.code !== 'store_contended' || calls === CALLS_MAX) throw error
    }
  }
}

async function settled<Answer>(answer: Promise<Answer>): Promise<PromiseSettledResult<Answer>> {
  const [result] = await Promise.allSettled([answer])
  return result!
}
