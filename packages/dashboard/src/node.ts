import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DashboardHandler } from './dashboard.ts'
import { BODY_MAX_BYTES } from './security.ts'

/** What frameworks add to a request. */
type MountedRequest = IncomingMessage & {
  /** Express takes the mount path off `url`. */
  readonly originalUrl?: string
  /** What a body parser in front has made of the body: then the stream is at its end. */
  readonly body?: unknown
}

/**
 * For `createServer()` of `node:http`, and for what has its request and response: Express as `app.use('/belay', toNodeHandler(handler))`, with or without
 * a body parser in front; Koa with `ctx.respond = false`; Fastify with `reply.hijack()`, after its parsed body was set as `request.raw.body`.
 */
export function toNodeHandler(
  handler: DashboardHandler,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const left = new AbortController()
    response.once('close', () => left.abort())
    answer(handler, request, response, left.signal).catch((error: unknown) => {
      if (!response.destroyed) console.error('The dashboard failed to answer a request:', error)
      if (response.headersSent) response.destroy()
      else response.writeHead(400, { connection: 'close' }).end()
    })
  }
}

async function answer(
  handler: DashboardHandler,
  request: MountedRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const address = addressOf(request)
  if (address === undefined || UNFETCHABLE.has(request.method ?? '')) {
    response.writeHead(400, { connection: 'close' }).end()
    return
  }
  const { status, headers, body } = await handler(await fetchRequest(request, address, signal))
  // The rest of a body that is too large is not waited for.
  if (!request.complete) headers.set('connection', 'close')
  response.writeHead(status, Object.fromEntries(headers))
  const sent =
    body === null || request.method === 'HEAD'
      ? undefined
      : new Uint8Array(await new Response(body).arrayBuffer())
  response.end(sent)
}

/** Fetch has no requests of these methods. */
const UNFETCHABLE: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** Undefined if the request names a host that cannot be one. */
function addressOf({ originalUrl, url = '/', socket, headers }: MountedRequest): URL | undefined {
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http'
  const { host = 'localhost' } = headers
  const path = originalUrl ?? url
  try {
    // As a path: `//host` would be another host.
    return new URL(`${scheme}://${host}${path.startsWith('/') ? path : '/'}`)
  } catch {
    return undefined
  }
}

async function fetchRequest(request: MountedRequest, address: URL, signal: AbortSignal): Promise<Request> {
  const { method = 'GET' } = request
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value ?? []].flat()) if (!name.startsWith(':')) headers.append(name, one)
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(address, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: await bodyOf(request) } : {}),
  })
}

/** The body up to one byte more than the dashboard takes. */
async function bodyOf(request: MountedRequest): Promise<string | Uint8Array<ArrayBuffer>> {
  const { body } = request
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new Uint8Array(body)
  if (body !== undefined) return JSON.stringify(body)
  const read = new Uint8Array(BODY_MAX_BYTES + 1)
  let size = 0
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const bytes = part as Uint8Array
    read.set(bytes.subarray(0, read.length - size), size)
    size = Math.min(read.length, size + bytes.length)
    if (size === read.length) break
  }
  return read.subarray(0, size)
}
