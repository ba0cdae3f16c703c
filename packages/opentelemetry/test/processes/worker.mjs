// A worker for the tests beside it, which kill it. It appends each span that it exports to the file SPANS, at once, one JSON line each, and hangs where HANGS says.
import { appendFileSync } from 'node:fs'
import { createTelemetry } from '@belay/opentelemetry'
import { createEngine, define, PermanentError } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const { DATABASE_URL, SCHEMA, SPANS, HANGS } = process.env

const ms = ([seconds, nanoseconds]) => seconds * 1_000 + nanoseconds / 1_000_000

/** Writes spans in the form of `TreeSpan`. */
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const line = {
        ...span.spanContext(),
        ...{ name: span.name, parentId: span.parentSpanContext?.spanId },
        ...{ startMs: ms(span.startTime), endMs: ms(span.endTime) },
        ...{ status: span.status.code, attributes: span.attributes },
        links: span.links.map((link) => ({ ...link.context, link: link.attributes?.['belay.link'] })),
      }
      appendFileSync(SPANS, `${JSON.stringify(line)}\n`)
    }
    done({ code: 0 })
  },
  async shutdown() {},
}

const telemetry = createTelemetry()
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({
    idGenerator: telemetry.idGenerator,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  }),
)

/** A handler that calls another system, and perhaps never comes back. */
const calls = (name, after) => () =>
  trace.getTracer('a client').startActiveSpan(`POST /${name}`, async (span) => {
    span.end()
    if (HANGS === name) await new Promise(() => {})
    return after?.()
  })

const order = define('order', { version: 1 })
  .step('reserve', { run: calls('reserve'), compensate: calls('release') })
  .step('charge', { dependsOn: ['reserve'], run: calls('charge'), compensate: calls('refund') })
  .step('pack', {
    dependsOn: ['charge'],
    run: calls('pack', () => {
      throw new PermanentError('Nothing is left in the warehouse.')
    }),
  })

const payment = define('payment', { version: 1 }).step('charge', {
  run: () => 'charged',
  compensate: () => {},
})

const album = define('album', { version: 1 })
  .map('resize', {
    over: () => Array.from({ length: 50 }, (_, index) => index),
    run: ({ index }) => (HANGS === 'resize' && index === 13 ? new Promise(() => {}) : index),
    compensate: () => {},
  })
  .workflow('pay', payment, { dependsOn: ['resize'] })
  .step('ship', {
    dependsOn: ['pay'],
    run: calls('ship', () => Promise.reject(new PermanentError('No truck.'))),
  })

const engine = createEngine({
  ...telemetry.engineOptions,
  adapter: postgres(DATABASE_URL, { schema: SCHEMA, autoMigrate: false }),
  workflows: [order, album],
  concurrency: 60,
  lease: '1s',
  logger: false,
})
telemetry.observe(engine)
await engine.start()

process.once('SIGTERM', () => engine.close())
