import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Engine } from '@belay/workflow'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { streamChanges } from './changes.ts'
import { order } from './order.ts'
import { Streams, statusOf, type Web } from './web.ts'

function application(engine: Engine, streams: Streams): Express {
  const app = express()
  app.use(express.json())

  app.post('/orders/:key', async (request, response) => {
    const run = await engine.run(order, request.body, { key: request.params.key })
    response.status(202).json({ runId: run.id })
  })

  app.post('/runs/:id/release', async (request, response) => {
    const receipt = await engine.signal(request.params.id, 'released', request.body)
    response.json({ result: receipt.result })
  })

  app.get('/runs/:id', async (request, response) => {
    const run = await engine.runs.get(request.params.id)
    if (run === undefined) response.sendStatus(404)
    else response.json({ status: run.status })
  })

  app.get('/runs/:id/changes', (request, response) =>
    streamChanges(response, { engine, runId: request.params.id, streams }),
  )

  // Express 5 passes on what an async handler throws. It knows this handler by its four parameters.
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    response.status(statusOf(error)).json({ error: String(error.message) })
  }
  return app.use(onError)
}

export async function startExpress(engine: Engine, port: number): Promise<Web> {
  const streams = new Streams()
  const server = application(engine, streams).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      streams.endAll()
      await new Promise((closed) => server.close(closed))
    },
  }
}
