import type { ClientBase, QueryConfig, QueryResult } from 'pg'
import { quoteIdentifier } from '../schema-name.ts'
import { END_STATEMENTS } from './abandoned.ts'
import type { SessionFacts } from './session.ts'

export interface LifelineParts {
  /** Connects a client of its own, or takes one that nobody else uses. */
  connect(): Promise<LifelineClient>
  /** The channel to listen on; null to listen on none. */
  readonly channel: string | null
  /** Listen even where a pooler stands in between. */
  readonly listensThroughPoolers: boolean
}

export interface LifelineClient {
  readonly client: ClientBase
  readonly session: SessionFacts
  /** Lets it go; `isSilent`: without a word, because nobody would hear it. */
  end(isSilent: boolean): Promise<void>
}

/** The lifeline is not connected, or didn't answer in time. */
class LifelineDown extends Error {}

const RECONNECT_INITIAL_MS = 100
const RECONNECT_MAX_MS = 5_000

// A connection that died without a word is noticed by asking.
const PROBE_EVERY_MS = 30_000

/** A statement that takes longer stands for a connection that is gone: what runs here takes milliseconds. */
const SILENCE_MS = 5_000

/**
 * The one connection that is never lent out, so that it is free when all others are stuck: for renewing leases, for asking after sessions and
 * cancelling what they do, and for listening. Open while somebody holds it; whenever it breaks it is replaced, and the session it had is ended.
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

  /** Connected, and not to a session of its own. */
  get isPooled(): boolean {
    return this.#current?.session.isPooled === true
  }

  /** Opens it, and keeps it open. Returns how to let go of it. */
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

  /** Calls back with what is heard on the channel; without a payload when something may have been missed. */
  listen(listener: (payload?: string) => void): () => void {
    const added = (payload?: string) => listener(payload)
    this.#listeners.add(added)
    return () => this.#listeners.delete(added)
  }

  /** Rejects with LifelineDown when no answer has come within `limitMs`; the statement may take effect later. */
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

  /** One statement after the other. */
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
    // Something may have been said while nobody listened.
    if (this.#wasOpen) this.#call()
    this.#wasOpen = true
  }

  /** Sessions of connections that were given up without a word; where the network swallowed it, nobody else would end them. */
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
      // Behind a pooler others would find what was prepared by name.
      const unnamed = opened.session.isPooled ? { ...config, name: undefined } : config
      opened.client.query(unnamed as QueryConfig<unknown[]>, (error: unknown, result: QueryResult) => {
        clearTimeout(timer)
        if (error === null || error === undefined) resolve(result)
        else reject(error)
      })
    })
  }

  #probe(opened: LifelineClient): void {
    // A connection that doesn't answer is dropped by the query itself.
    this.query({ text: 'select 1' }, SILENCE_MS).then(() => {
      if (opened === this.#current) this.#later(PROBE_EVERY_MS, () => this.#probe(opened))
    }, ignore)
  }

  /** Gives the connection up and, while it is wanted, opens another after a while. */
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
