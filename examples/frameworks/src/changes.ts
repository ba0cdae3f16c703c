import type { ServerResponse } from 'node:http'
import { BelayError, type Engine } from '@belay/workflow'
import { eventText, STREAM_HEADERS, type Streams } from './web.ts'

/** Streams the changes of a run into a response of node:http, which Express and Fastify have too. */
export async function streamChanges(
  response: ServerResponse,
  { engine, runId, streams }: { readonly engine: Engine; readonly runId: string; readonly streams: Streams },
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  response.writeHead(200, STREAM_HEADERS)
  response.flushHeaders()
  try {
    for await (const change of engine.watch(runId, { signal: streams.signalFor(gone.signal) })) {
      response.write(eventText(change.type, change))
    }
    // Without it the browser's EventSource would connect again.
    response.write(eventText('end', {}))
  } catch (error) {
    // The server closes or the browser has gone: EventSource connects again, to another process.
    if (!BelayError.is(error) || error.code !== 'watch_aborted') {
      response.write(eventText('failed', { message: String(error) }))
    }
  }
  response.end()
}
