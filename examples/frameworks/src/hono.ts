import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Engine } from '@belay/workflow'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { order } from './order.ts'
import { STREAM_HEADERS, Streams, statusOf, type Web } from './web.ts'

function application(engine: Engine, streams: Streams): Hono {
  const app = new Hono()
  app.onError((error, c) => c.json({ error: error.message }, statusOf(error)))

  app.post('/orders/:key', async (c) => {
    const run = await engine.run(order, await c.req.json(), { key: c.req.param('key') })
    return c.json({ runId: run.id }, 202)
  })

  app.post('/runs/:id/release', async (c) => {
    const receipt = await engine.signal(c.req.param('id'), 'released', await c.req.json())
    return c.json({ result: receipt.result })
  })

  app.get('/runs/:id', async (c) => {
    const run = await engine.runs.get(c.req.param('id'))
    return run === undefined ? c.notFound() : c.json({ status: run.status })
  })

  app.get('/runs/:id/changes', (c) => {
    const response = streamSSE(c, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      const signal = streams.signalFor(gone.signal)
      try {
        for await (const change of engine.watch(c.req.param('id'), { signal })) {
          await stream.writeSSE({ event: change.type, data: JSON.stringify(change) })
        }
        await stream.writeSSE({ event: 'end', data: '{}' })
      } catch (error) {
        if (!signal.aborted) await stream.writeSSE({ event: 'failed', data: JSON.stringify(String(error)) })
      }
    })
    // streamSSE() itself asks to keep the connection.
    response.headers.set('connection', STREAM_HEADERS.connection)
    return response
  })
  return app
}

export async function startHono(engine: Engine, port: number): Promise<Web> {
  const streams = new Streams()
  const server = serve({ fetch: application(engine, streams).fetch, port, hostname: '127.0.0.1' })
  if (!server.listening) await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      streams.endAll()
      await new Promise((closed) => server.close(closed))
    },
  }
}
