import { BelayError } from '@belay/workflow'

/** A web server that can be stopped well, whatever framework it is made with. */
export interface Web {
  readonly port: number
  /** Ends the streams, lets requests end, and takes no new ones. */
  close(): Promise<void>
}

/** The streams of a server. They last as long as their runs, so a server that waits for its requests would never stop. */
export class Streams {
  readonly #closing = new AbortController()

  /** Fires when the browser of one stream has gone, or the server closes. */
  signalFor(gone: AbortSignal): AbortSignal {
    return AbortSignal.any([gone, this.#closing.signal])
  }

  endAll(): void {
    this.#closing.abort()
  }
}

/** The status of a response for an error. */
export function statusOf(error: unknown): 400 | 404 | 409 | 500 | 503 {
  if (!BelayError.is(error)) return 500
  if (error.code === 'invalid_input' || error.code === 'invalid_option') return 400
  if (error.code === 'unknown_run') return 404
  if (error.code === 'key_conflict') return 409
  return error.code === 'store_unavailable' ? 503 : 500
}

/** One server-sent event. */
export function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** A connection that has carried a stream is not kept: a server that closes would wait for it to time out. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  connection: 'close',
} as const
