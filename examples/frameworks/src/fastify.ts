import type { AddressInfo } from 'node:net'
import type { Engine } from '@belay/workflow'
import fastify, { type FastifyInstance } from 'fastify'
import { streamChanges } from './changes.ts'
import { order } from './order.ts'
import { Streams, statusOf, type Web } from './web.ts'

function application(engine: Engine, streams: Streams): FastifyInstance {
  const app = fastify({ forceCloseConnections: 'idle' })
  app.setErrorHandler((error, _request, reply) =>
    reply.code(statusOf(error)).send({ error: (error as Error).message }),
  )

  app.post<{ Params: { key: string }; Body: { item: string } }>('/orders/:key', async (request, reply) => {
    const run = await engine.run(order, request.body, { key: request.params.key })
    return reply.code(202).send({ runId: run.id })
  })

  app.post<{ Params: { id: string } }>('/runs/:id/release', async (request) => {
    const receipt = await engine.signal(request.params.id, 'released', request.body)
    return { result: receipt.result }
  })

  app.get<{ Params: { id: string } }>('/runs/:id', async (request, reply) => {
    const run = await engine.runs.get(request.params.id)
    return run === undefined ? reply.code(404).send() : { status: run.status }
  })

  app.get<{ Params: { id: string } }>('/runs/:id/changes', async (request, reply) => {
    reply.hijack()
    await streamChanges(reply.raw, { engine, runId: request.params.id, streams })
  })

  // Streams end when Fastify begins to close: it waits for all requests after that.
  app.addHook('preClose', async () => streams.endAll())
  return app
}

export async function startFastify(engine: Engine, port: number): Promise<Web> {
  const app = application(engine, new Streams())
  await app.listen({ port, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
}
