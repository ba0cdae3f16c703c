import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BelayError, type Engine } from '@belay/workflow'

/** Serves `GET /runs/<id>/changes` as server-sent events. The engine needs no handlers: the runs may be executed by other processes. */
export function progressServer(engine: Engine): Server {
  return createServer((request, response) => {
    const runId = /^\/runs\/([0-9a-f-]{36})\/changes$/.exec(request.url ?? '')?.[1]
    if (runId === undefined) response.writeHead(404).end()
    else void streamChanges(engine, runId, request, response)
  })
}

async function streamChanges(
  engine: Engine,
  runId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The browser went away: nobody needs the changes any more.
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  try {
    for await (const change of engine.watch(runId, { signal: gone.signal })) {
      // A slow browser is waited for. What changes meanwhile comes as one change.
      if (!response.write(`event: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`)) {
        await new Promise((resume) => {
          response.once('drain', resume)
          response.once('close', resume)
        })
      }
    }
    // Tells the browser not to connect again: the run is over.
    response.write('event: end\ndata: {}\n\n')
  } catch (error) {
    if (!BelayError.is(error) || error.code !== 'watch_aborted') {
      response.write(`event: failed\ndata: ${JSON.stringify({ message: String(error) })}\n\n`)
    }
  }
  response.end()
  request.destroy()
}
