import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import mounted from 'koa-mount'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Session } from '../src/api.ts'
import { type DashboardHandler, toNodeHandler } from '../src/index.ts'
import { opened } from './setup/calls.ts'
import { oddRequests, sendAll } from './setup/odd-requests.ts'
import { type Shop, shop } from './setup/shop.ts'

/** Opens a server with the dashboard below `/ops/belay`, and gives its address. */
type Mount = (handler: DashboardHandler) => Promise<string>

function listening(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    })
  })
}

const MOUNTS: Readonly<Record<string, Mount>> = {
  'node:http': (handler) => listening(toNodeHandler(handler)),
  'Express 5': (handler) => listening(express().use('/ops/belay', toNodeHandler(handler))),
  'Express 5 behind express.json()': (handler) =>
    listening(express().use(express.json(), express.text()).use('/ops/belay', toNodeHandler(handler))),
  async 'Fastify, whose parser has read the body'(handler) {
    const app = fastify()
    const node = toNodeHandler(handler)
    app.all('/ops/belay/*', (request, reply) => {
      reply.hijack()
      node(Object.assign(request.raw, { body: request.body }), reply.raw)
    })
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  Koa: (handler) => listening(koa(handler).callback()),
  'Koa, whose mount strips the path': (handler) =>
    listening(new Koa().use(mounted('/ops/belay', koa(handler))).callback()),
  'Koa behind a body parser'(handler) {
    const node = toNodeHandler(handler)
    const app = new Koa().use(bodyParser()).use((ctx) => {
      ctx.respond = false
      node(Object.assign(ctx.req, { body: ctx.request.body }), ctx.res)
    })
    return listening(app.callback())
  },
  Hono: (handler) => hono(new Hono().all('/ops/belay/*', ({ req }) => handler(req.raw))),
  'Hono, which strips the path': (handler) => hono(new Hono().mount('/ops/belay', handler)),
}

function koa(handler: DashboardHandler): Koa {
  const node = toNodeHandler(handler)
  return new Koa().use((ctx) => {
    ctx.respond = false
    node(ctx.req, ctx.res)
  })
}

function hono(app: Hono): Promise<string> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    )
    onTestFinished(() => {
      server.close()
    })
  })
}

let at: Shop
let handler: DashboardHandler

beforeAll(async () => {
  at = await shop({ isShared: true })
  handler = opened({ engine: at.engine(), basePath: '/ops/belay' })
})

describe.each(Object.entries(MOUNTS))('mounted in %s', (_, mount) => {
  test('it reads, acts, refuses, and shows its page', async () => {
    const base = await mount(handler)
    const { id } = at.runs['order:9182']
    const actions = `${base}/ops/belay/api/runs/${id}/actions`
    const write = (body: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(actions, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-belay': '1', origin: base, ...headers },
        body,
      })

    const first = await fetch(`${base}/ops/belay/api/session`)
    expect(((await first.json()) as Session).by).toBe('ada')
    expect(first.headers.get('connection')).toBe('keep-alive')

    const page = await fetch(`${base}/ops/belay/runs/${id}?tab=undo`)
    expect(await page.text()).toMatch(/src="\/ops\/belay\/app-/)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)

    const dry = await write(JSON.stringify({ verb: 'pause', dryRun: true }))
    expect(await dry.json()).toMatchObject({ changed: true })
    const pause = await write(JSON.stringify({ verb: 'pause', dryRun: false, reason: 'é ☃' }))
    expect(await pause.json()).toMatchObject({ changed: true })
    const resume = await write(JSON.stringify({ verb: 'resume', dryRun: false, reason: 'done' }))
    expect(await resume.json()).toMatchObject({ changed: true })
    const [paused] = (await at.worker.runs.history(id)).slice(-2)
    expect(paused).toMatchObject({ action: 'pause', by: 'ada', reason: 'é ☃' })

    expect((await write('{}', { origin: 'http://evil.example' })).status).toBe(403)
    expect((await write('x', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await fetch(actions)).status).toBe(405)
    expect((await fetch(`${base}/ops/belay/api/session`, { method: 'HEAD' })).status).toBe(200)
    const large = JSON.stringify({ verb: 'pause', dryRun: false, reason: 'x'.repeat(80_000) })
    expect((await write(large)).status).toBe(413)
  })
})

test('as a route handler of Next.js, which is called with a request', async () => {
  const GET = handler
  const response = await GET(new Request('https://shop.example/ops/belay/api/session'))
  expect(await response.json()).toMatchObject({ by: 'ada' })
})

describe('node:http', () => {
  test('a body that never ends is refused once it is too large', async () => {
    const base = await MOUNTS['node:http']!(handler)
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${base}/ops/belay/api/runs/${at.runs['order:9182'].id}/actions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-belay': '1', origin: base },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        response.resume()
        request.destroy()
        resolve(response.statusCode)
      })
      request.write('x'.repeat(70_000))
    })
    expect(status).toBe(413)
  })

  test('a path that looks like another host stays a path', async () => {
    const base = await MOUNTS['node:http']!(handler)
    const status = await new Promise((resolve, reject) => {
      httpRequest(base, { path: '//evil.example/api/session' }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
  })
})

test('any request is answered or refused, none ends the process, and none is logged', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => logged.mockRestore())
  const url = await listening(toNodeHandler(handler))
  const { host, port } = new URL(url)

  await sendAll(Number(port), oddRequests(host))

  expect((await fetch(`${url}/ops/belay/api/session`)).status).toBe(200)
  expect(logged.mock.calls).toEqual([])
})
