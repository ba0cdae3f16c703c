import type { ClientBase } from 'pg'
import type { Connection } from '../connection/connection.ts'
import { hash } from '../connection/statement.ts'
import { quoteIdentifier } from '../schema-name.ts'
import { coalesced, type Wakeup } from '../wakeup.ts'

export interface ListenerParts {
  readonly schema: string
  /** Connects the client that listens; null when there is none to spare, and hints are only sent. */
  readonly connect: (() => Promise<ListeningClient>) | null
  /** Sends one notification. */
  notify(channel: string, within?: Connection): Promise<unknown>
}

/** A client of its own, and how to let it go. */
export interface ListeningClient {
  readonly client: ClientBase
  end(): Promise<void>
}

const RECONNECT_INITIAL_MS = 100
const RECONNECT_MAX_MS = 5_000

// A connection that died without a word is noticed by asking.
const PROBE_EVERY_MS = 30_000
const PROBE_TIMEOUT_MS = 10_000

/**
 * LISTEN and NOTIFY as a hint between processes. Listens only while somebody wants to know, and reconnects by itself; after a reconnect
 * it calls, since it may have missed something. Failures are not reported: without the hint, work is found at the next tick.
 */
export function listenNotify(parts: ListenerParts): Wakeup {
  const channel = channelOf(parts.schema)
  const listeners = new Set<() => void>()
  const call = () => {
    for (const listener of listeners) listener()
  }
  let connection: Listening | undefined
  const send = coalesced(() => {
    parts.notify(channel).catch(ignore)
  })
  return {
    onWake(listener) {
      // A function of its own, so that one listener given twice is two.
      const added = () => listener()
      listeners.add(added)
      if (parts.connect !== null) connection ??= new Listening({ connect: parts.connect, channel, call })
      return () => {
        listeners.delete(added)
        if (listeners.size > 0) return
        void connection?.close()
        connection = undefined
      }
    },
    wake: send,
    // Delivered when the transaction commits. The lock that Postgres takes for it is held during the commit only.
    async wakeAfter(transaction) {
      await parts.notify(channel, transaction)
    },
    async close() {
      send.stop()
      listeners.clear()
      await connection?.close()
    },
  }
}

interface ListeningParts {
  readonly connect: () => Promise<ListeningClient>
  readonly channel: string
  readonly call: () => void
}

/** One connection that listens, replaced by another whenever it breaks, until it is closed. */
class Listening {
  readonly #parts: ListeningParts
  #opening: Promise<void>
  #current: ListeningClient | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #delayMs = RECONNECT_INITIAL_MS
  #wasListening = false
  #closed = false

  constructor(parts: ListeningParts) {
    this.#parts = parts
    this.#opening = this.#open()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#opening
    await this.#drop()
  }

  async #open(): Promise<void> {
    try {
      const opened = await this.#parts.connect()
      this.#current = opened
      this.#follow(opened)
      if (this.#closed) return await this.#drop()
      await opened.client.query(`listen ${quoteIdentifier(this.#parts.channel)}`)
      this.#delayMs = RECONNECT_INITIAL_MS
      this.#later(PROBE_EVERY_MS, () => this.#probe(opened))
      // Something may have been said while nobody listened.
      if (this.#wasListening) this.#parts.call()
      this.#wasListening = true
    } catch {
      await this.#drop()
    }
  }

  #follow(opened: ListeningClient): void {
    const broken = () => {
      if (opened === this.#current) void this.#drop()
    }
    opened.client.on('error', broken)
    opened.client.on('end', broken)
    opened.client.on('notification', ({ channel }) => {
      if (channel === this.#parts.channel) this.#parts.call()
    })
  }

  #probe(opened: ListeningClient): void {
    const query = { text: 'select 1', query_timeout: PROBE_TIMEOUT_MS }
    opened.client.query(query).then(
      () => {
        if (opened === this.#current) this.#later(PROBE_EVERY_MS, () => this.#probe(opened))
      },
      () => {
        if (opened === this.#current) void this.#drop()
      },
    )
  }

  /** Lets the connection go and, unless closed, opens another after a while. */
  async #drop(): Promise<void> {
    clearTimeout(this.#timer)
    const dropped = this.#current
    this.#current = undefined
    if (!this.#closed) {
      this.#later(this.#delayMs, () => {
        this.#opening = this.#open()
      })
      this.#delayMs = Math.min(this.#delayMs * 2, RECONNECT_MAX_MS)
    }
    await dropped?.end().catch(ignore)
  }

  #later(ms: number, run: () => void): void {
    this.#timer = setTimeout(run, ms)
    this.#timer.unref()
  }
}

// Postgres cuts longer names off.
const CHANNEL_LENGTH_MAX = 63

function channelOf(schema: string): string {
  const channel = `belay:${schema}`
  return channel.length <= CHANNEL_LENGTH_MAX ? channel : `belay:${hash(schema)}`
}

function ignore() {}
