import type { ClientBase, QueryConfig, QueryResult } from 'pg'
import { quoteIdentifier } from '../schema-name.ts'
import { END_STATEMENTS } from './abandoned.ts'
import type { SessionFacts } from './session.ts'

export interface LifelineParts {
  /** Connects a new client, or takes one that nobody else uses. */
  connect(): Promise<LifelineClient>
  /** The channel to listen on; null for none. */
  readonly channel: string | null
  /** Listen even through a pooler. */
  readonly listensThroughPoolers: boolean
}

export interface LifelineClient {
  readonly client: ClientBase
  readonly session: SessionFacts
  /** Closes it. `isSilent`: without a message to the server, because it would not arrive. */
  end(isSilent: boolean): Promise<void>
}

/** The lifeline is not connected, or did not answer in time. */
class LifelineDown extends Error {}

const RECONNECT_INITIAL_MS = 100
const RECONNECT_MAX_MS = 5_000

// A query in this interval detects a connection that died silently.
const PROBE_EVERY_MS = 30_000

/** Statements here take milliseconds. One that takes longer than this means that the connection is gone. */
const SILENCE_MS = 5_000

/**
 * The one connection that is never lent, so that it is free when all others are stuck. It renews leases, reads and cancels other sessions'
 * statements, and listens. It is open while somebody holds it. Whenever it breaks, it is replaced and its old session is terminated.
 */
export class Lifeline {
  readonly #parts: LifelineParts
  readonly #listeners = new Set<(payload: string | undefined) => void>()
  #holders = 0
  #opening: Promise<void> = Promise.resolve()
  #current: LifelineClient | undefined
  #abandoned: SessionFacts[] = []
  #turn: Promise<unknown> = Promise.resolve()
  #timer: ReturnType<typeof setTimeout> | undefined
  #delayMs = RECONNECT_INITIAL_MS
  #wasOpen = false
  #isClosed = false

  constructor(parts: LifelineParts) {
    this.#parts = parts
  }

  /** Connected through a pooler. */
  get isPooled(): boolean {
    return this.#current?.session.isPooled === true
  }

  /** Opens it and keeps it open. Returns a function that releases it. */
  hold(): () => void {
    this.#holders += 1
    if (this.#holders === 1 && !this.#isClosed) this.#opening = this.#opening.then(() => this.#open())
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holders -= 1
      if (this.#holders === 0) void this.#opening.then(() => this.#letGo())
    }
  }

  /** Calls back for each notification on the channel; without a payload if some may have been missed. */
  listen(listener: (payload?: string) => void): () => void {
    const added = (payload?: string) => listener(payload)
    this.#listeners.add(added)
    return () => this.#listeners.delete(added)
  }

  /** Rejects with LifelineDown if no answer arrives within `limitMs`. The statement may still take effect later. */
  query(config: QueryConfig<unknown[]>, limitMs: number): Promise<QueryResult> {
    const answer =
      this.#current === undefined ? this.#opening.then(() => this.#queue(config)) : this.#queue(config)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new LifelineDown()), limitMs)
      answer.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
    await this.#opening
    await this.#letGo()
  }

  /** Runs one statement after another. */
  #queue(config: QueryConfig<unknown[]>): Promise<QueryResult> {
    const opened = this.#current
    if (opened === undefined) return Promise.reject(new LifelineDown())
    const answer = this.#turn.then(() => this.#send(opened, config))
    this.#turn = answer.catch(ignore)
    return answer
  }

  async #open(): Promise<void> {
    if (this.#current !== undefined || !this.#isWanted) return
    try {
      const opened = await this.#parts.connect()
      this.#current = opened
      this.#follow(opened)
      if (!this.#isWanted) return await this.#letGo()
      await this.#begin(opened)
    } catch {
      this.#drop(true)
    }
  }

  get #isWanted(): boolean {
    return this.#holders > 0 && !this.#isClosed
  }

  async #begin(opened: LifelineClient): Promise<void> {
    const { channel, listensThroughPoolers } = this.#parts
    if (channel !== null && (!opened.session.isPooled || listensThroughPoolers)) {
      await this.query({ text: `listen ${quoteIdentifier(channel)}` }, SILENCE_MS)
    }
    await this.#endPredecessors()
    this.#delayMs = RECONNECT_INITIAL_MS
    this.#later(PROBE_EVERY_MS, () => this.#probe(opened))
    // Notifications may have been sent while nobody listened.
    if (this.#wasOpen) this.#call()
    this.#wasOpen = true
  }

  /** Terminates the sessions of connections that were closed silently: if the network lost the news, nothing else would end them. */
  async #endPredecessors(): Promise<void> {
    const sessions = this.#abandoned
    if (sessions.length === 0) return
    const values = [
      sessions.map(({ pid }) => pid),
      sessions.map(({ since }) => since),
      sessions.map(() => true),
    ]
    const { rows } = await this.query({ text: END_STATEMENTS, values }, SILENCE_MS)
    this.#abandoned = sessions.filter((_, index) => rows[index]?.is_alive === true)
  }

  #follow(opened: LifelineClient): void {
    const broken = () => {
      if (opened === this.#current) this.#drop(true)
    }
    opened.client.on('end', broken)
    opened.client.on('error', broken)
    opened.client.on('notification', ({ channel, payload }) => {
      if (channel === this.#parts.channel) this.#call(payload)
    })
  }

  #call(payload?: string): void {
    for (const listener of this.#listeners) listener(payload)
  }

  #send(opened: LifelineClient, config: QueryConfig<unknown[]>): Promise<QueryResult> {
    if (opened !== this.#current) return Promise.reject(new LifelineDown())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (opened === this.#current) this.#drop(true)
        reject(new LifelineDown())
      }, SILENCE_MS)
      // Behind a pooler, other clients would meet statements prepared by name.
      const unnamed = opened.session.isPooled ? { ...config, name: undefined } : config
      opened.client.query(unnamed as QueryConfig<unknown[]>, (error: unknown, result: QueryResult) => {
        clearTimeout(timer)
        if (error === null || error === undefined) resolve(result)
        else reject(error)
      })
    })
  }

  #probe(opened: LifelineClient): void {
    // If the connection does not answer, the query itself drops it.
    this.query({ text: 'select 1' }, SILENCE_MS).then(() => {
      if (opened === this.#current) this.#later(PROBE_EVERY_MS, () => this.#probe(opened))
    }, ignore)
  }

  /** Closes the connection. If it is still needed, opens another one after a while. */
  #drop(isSilent: boolean): void {
    clearTimeout(this.#timer)
    const dropped = this.#current
    this.#current = undefined
    if (dropped !== undefined && isSilent && !dropped.session.isPooled) this.#abandoned.push(dropped.session)
    if (this.#isWanted) {
      this.#later(this.#delayMs, () => {
        this.#opening = this.#opening.then(() => this.#open())
      })
      this.#delayMs = Math.min(this.#delayMs * 2, RECONNECT_MAX_MS)
    }
    dropped?.end(isSilent).catch(ignore)
  }

  /** Closes the connection unless somebody holds it. */
  async #letGo(): Promise<void> {
    if (this.#isWanted) return
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    this.#wasOpen = false
    await current?.end(false).catch(ignore)
  }

  #later(ms: number, run: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(run, ms)
    this.#timer.unref()
  }
}

function ignore() {}
