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
 * of the store are missing. Scrapes within one second share a reading. A register that fails is logged and answered with 500.
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
  const handle = async ({ method }: Request) => {
    const { status, headers, body } = await answer(register, method)
    return new Response(body, { status, headers })
  }
  const node = (request: IncomingMessage, response: ServerResponse) => {
    void answer(register, request.method).then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(body)
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

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Null for HEAD. */
  readonly body: string | null
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

/** Never rejects. */
async function answer(register: Registry, method: string | undefined): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') {
    const headers = { ...TEXT, allow: 'GET, HEAD' }
    return { status: 405, headers, body: 'Metrics are read with GET.\n' }
  }
  const body = (text: string) => (method === 'HEAD' ? null : text)
  try {
    const text = await register.metrics()
    return { status: 200, headers: { 'content-type': register.contentType }, body: body(text) }
  } catch (error) {
    console.error('The metrics could not be collected.', error)
    return {
      status: 500,
      headers: TEXT,
      body: body('The metrics could not be collected. The log of this process says why.\n'),
    }
  }
}
