import type { IncomingMessage, ServerResponse } from 'node:http'
import { BelayError, type Engine } from '@belay/workflow'
import { Registry } from 'prom-client'
import { check, checkEngine } from './metrics/check.ts'
import { expose } from './metrics/expose.ts'

export { INSTRUMENTS, type Instrument, type InstrumentName } from './metrics/instruments.ts'
export { prometheusName } from './metrics/names.ts'

export interface MetricsHandlerOptions {
  /** A register of prom-client whose own metrics are served too, such as its global `register`. Default: a register for this engine alone. */
  readonly register?: Registry | undefined
}

/** Answers GET and HEAD with the metrics as text; anything else with 405. */
export interface MetricsHandler {
  /** For everything that speaks Fetch: Hono, Next.js, Bun, Deno. */
  (request: Request): Promise<Response>
  /** For `createServer()` of `node:http`, and for Express: `app.get('/metrics', handler.node)`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  /** Counts no more, and takes the engine's metrics out of the register. Its last handler does; others go on. */
  readonly stop: () => void
}

const CALL = 'metricsHandler()'

/**
 * Serves the metrics of an engine for Prometheus, with prom-client and without OpenTelemetry. It counts from this call on, so call it before
 * `engine.start()`. Each scrape reads the store, for at most 5 s: if it does not answer, the response is still 200, `belay_store_up` is 0, and the gauges
 * of the store are missing. Scrapes within one second share one answer. A register that fails is logged and answered with 500. While 50 answers of
 * `node` are on their way to slow readers, the next scrape is answered with 503 and `retry-after`.
 *
 * Another handler of the same engine with the same register counts nothing twice.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { metricsHandler } from '@belay/opentelemetry/prometheus'
 *
 * createServer(metricsHandler(engine).node).listen(9464)
 * ```
 *
 * @throws BelayError `invalid_option` for what is no engine or no register, for a register that has the metrics of another engine, and for one with a
 * metric of the same name.
 */
export function metricsHandler(engine: Engine, options: MetricsHandlerOptions = {}): MetricsHandler {
  checkEngine(CALL, engine)
  const register = registerOf(options)
  const stop = expose(CALL, engine, register)
  const scrapes = new Scrapes(register)
  const handle = async ({ method }: Request) => {
    const { status, headers, body } = await answer(scrapes, method)
    // A Blob is shared by the answers that are read from it; bytes would be copied for each.
    return new Response(method === 'HEAD' ? null : body.blob, { status, headers })
  }
  let open = 0
  const node = (request: IncomingMessage, response: ServerResponse) => {
    if (open >= OPEN_MAX) {
      response.writeHead(503, { ...TEXT, 'retry-after': '1' }).end('Too many scrapes are being answered.\n')
      return
    }
    open += 1
    response.once('close', () => {
      open -= 1
    })
    void answer(scrapes, request.method).then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body.bytes)
    })
  }
  return Object.assign(handle, { node, stop })
}

function registerOf(options: unknown): Registry {
  if (typeof options !== 'object' || options === null) {
    throw new BelayError('invalid_option', `${CALL}: the options must be an object with register.`)
  }
  const unknown = Object.keys(options).find((name) => name !== 'register')
  if (unknown !== undefined) {
    throw new BelayError(
      'invalid_option',
      `${CALL} has no option ${JSON.stringify(unknown)}. It takes register.`,
    )
  }
  const { register } = options as MetricsHandlerOptions
  if (register === undefined) return new Registry()
  check(
    register,
    ['registerMetric', 'getSingleMetric', 'removeSingleMetric', 'metrics'],
    `${CALL}: register must be a Registry of prom-client`,
  )
  return register
}

/** Answers of `node` under way. A scraper asks once in many seconds. */
const OPEN_MAX = 50
const FRESH_MS = 1_000

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly blob: Blob
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

/** What a register says, once for all who ask within a second: with hundreds of workflows it takes a tenth of a second to write. */
class Scrapes {
  readonly #register: Registry
  #newest: Promise<Answer> | undefined
  #freshUntil = 0

  constructor(register: Registry) {
    this.#register = register
  }

  /** Rejects as the register does. A failure is not kept. */
  read(): Promise<Answer> {
    if (this.#newest !== undefined && performance.now() < this.#freshUntil) return this.#newest
    const own = this.#written()
    this.#newest = own
    // While it is being read, everybody waits for the same.
    this.#freshUntil = Number.POSITIVE_INFINITY
    const end = (freshMs: number) => {
      if (this.#newest === own) this.#freshUntil = performance.now() + freshMs
    }
    own.then(
      () => end(FRESH_MS),
      () => end(0),
    )
    return own
  }

  async #written(): Promise<Answer> {
    const text = await this.#register.metrics()
    return { status: 200, headers: { 'content-type': this.#register.contentType }, body: bodyOf(text) }
  }
}

function bodyOf(text: string): Body {
  const bytes = new TextEncoder().encode(text)
  return { bytes, blob: new Blob([bytes]) }
}

/** Never rejects. */
async function answer(scrapes: Scrapes, method: string | undefined): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') {
    const headers = { ...TEXT, allow: 'GET, HEAD' }
    return { status: 405, headers, body: bodyOf('Metrics are read with GET.\n') }
  }
  try {
    return await scrapes.read()
  } catch (error) {
    console.error('The metrics could not be collected.', error)
    const body = bodyOf('The metrics could not be collected. The log of this process says why.\n')
    return { status: 500, headers: TEXT, body }
  }
}
