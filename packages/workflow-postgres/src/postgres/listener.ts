import type { ClientBase } from 'pg'
import { hash } from '../connection/statement.ts'
import { quoteIdentifier } from '../schema-name.ts'
import { coalesced, type Wakeup } from '../wakeup.ts'

export interface ListenerParts {
  readonly schema: string
  /** Connects the client that listens; null when there is none to spare, and hints are only sent. */
  readonly connect: (() => Promise<ListeningClient>) | null
  /** Sends one notification. */
  notify(channel: string): Promise<unknown>
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
  let connection: Reconnecting | undefined
  const send = coalesced(() => {
    parts.notify(channel).catch(ignore)
  })
  return {
    onWake(listener) {
      // A function of its own, so that one listener given twice is two.
      const added = () => listener()
      listeners.add(added)
      if (parts.connect !== null) connection ??= keepListening({ connect: parts.connect, channel, call })
      return () => {
        listeners.delete(added)
        if (listeners.size > 0) return
        void connection?.close()
        connection = undefined
      }
    },
    wake: send,
    async close() {
      send.stop()
      listeners.clear()
      await connection?.close()
    },
  }
}

interface Reconnecting {
  close(): Promise<void>
}

function keepListening(parts: {
  connect: () => Promise<ListeningClient>
  channel: string
  call: () => void
}): Reconnecting {
  let closed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let listening: ListeningClient | undefined
  let delayMs = RECONNECT_INITIAL_MS
  let isFirst = true

  const later = (ms: number, run: () => void) => {
    timer = setTimeout(run, ms)
    timer.unref()
  }
  const drop = () => {
    clearTimeout(timer)
    const dropped = listening
    listening = undefined
    if (!closed) {
      later(delayMs, attempt)
      delayMs = Math.min(delayMs * 2, RECONNECT_MAX_MS)
    }
    return dropped?.end().catch(ignore)
  }
  const probe = () => {
    const current = listening
    const query = { text: 'select 1', query_timeout: PROBE_TIMEOUT_MS }
    current?.client.query(query).then(
      () => current === listening && later(PROBE_EVERY_MS, probe),
      () => current === listening && void drop(),
    )
  }
  const attempt = async () => {
    try {
      const opened = await parts.connect()
      listening = opened
      opened.client.on('error', () => opened === listening && drop())
      opened.client.on('end', () => opened === listening && drop())
      opened.client.on('notification', ({ channel }) => channel === parts.channel && parts.call())
      if (closed) return void (await drop())
      await opened.client.query(`listen ${quoteIdentifier(parts.channel)}`)
      delayMs = RECONNECT_INITIAL_MS
      later(PROBE_EVERY_MS, probe)
      if (!isFirst) parts.call()
      isFirst = false
    } catch {
      await drop()
    }
  }
  const opening = attempt()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await opening
      await drop()
    },
  }
}

// Postgres cuts longer names off.
const CHANNEL_LENGTH_MAX = 63

function channelOf(schema: string): string {
  const channel = `belay:${schema}`
  return channel.length <= CHANNEL_LENGTH_MAX ? channel : `belay:${hash(schema)}`
}

function ignore() {}
