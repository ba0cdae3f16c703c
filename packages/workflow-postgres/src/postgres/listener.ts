import type { WakeHint } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { hash } from '../connection/statement.ts'
import { coalesced, type Wakeup } from '../store/wakeup.ts'
import type { Lifeline } from './lifeline.ts'
import { isNews } from './run-news.ts'

export interface ListenerParts {
  readonly schema: string
  /** The connection that listens. Null if none can be spared; then hints are only sent. */
  readonly lifeline: Lifeline | null
  /** False: sends nothing in a caller's transaction. The server cannot prepare one that has notified, for a commit in two phases. */
  readonly notifiesWithin: boolean
  /** Sends one notification. */
  notify(channel: string, payload: string, within?: Connection): Promise<unknown>
}

/**
 * LISTEN and NOTIFY as a hint between processes. Listens only while somebody has subscribed. After a reconnect it calls the listeners, because a hint
 * may have been missed. Failures are not reported: without the hint, the next tick finds the work.
 */
export function listenNotify(parts: ListenerParts): Wakeup {
  const channel = channelOf(parts.schema)
  const stops = new Set<() => void>()
  const send = coalesced((hint) => parts.notify(channel, payloadOf(hint)))
  return {
    onWake(listener) {
      const { lifeline } = parts
      if (lifeline === null) return () => {}
      const forget = lifeline.listen((payload) => {
        if (!isNews(payload)) listener(hintOf(payload))
      })
      const letGo = lifeline.hold()
      const stop = () => {
        stops.delete(stop)
        forget()
        letGo()
      }
      stops.add(stop)
      return stop
    },
    wake: send,
    // Delivered when the transaction commits. Postgres holds the lock for it only during the commit.
    async wakeAfter(transaction, definitionIds) {
      if (!parts.notifiesWithin) return
      const hint = definitionIds === undefined ? undefined : { definitionIds, draw: Math.random() }
      await parts.notify(channel, payloadOf(hint), transaction)
    },
    async close() {
      for (const stop of stops) stop()
      await send.flush()
    },
  }
}

// Postgres refuses payloads of 8,000 bytes.
const PAYLOAD_LENGTH_MAX = 7_999

/** The draw, then the definitions: `0.25 7 12`. Empty for any definition: older versions send that, and ignore payloads. */
function payloadOf(hint: WakeHint | undefined): string {
  if (hint === undefined || hint.definitionIds.length === 0) return ''
  const payload = [hint.draw.toFixed(6), ...hint.definitionIds].join(' ')
  return payload.length > PAYLOAD_LENGTH_MAX ? '' : payload
}

function hintOf(payload: string | undefined): WakeHint | undefined {
  const [, draw, definitionIds] = /^(0\.\d+)((?: \d+)+)$/.exec(payload ?? '') ?? []
  if (draw === undefined || definitionIds === undefined) return undefined
  return { draw: Number(draw), definitionIds: definitionIds.trim().split(' ').map(Number) }
}

// Postgres truncates longer names.
const CHANNEL_LENGTH_MAX = 63

export function channelOf(schema: string): string {
  const channel = `belay:${schema}`
  return channel.length <= CHANNEL_LENGTH_MAX ? channel : `belay:${hash(schema)}`
}
