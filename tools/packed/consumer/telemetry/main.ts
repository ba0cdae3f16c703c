// A user who has the SDK of OpenTelemetry: each run is one trace, and the engine has metrics.
import { createTelemetry } from '@belay/opentelemetry'
import { memory } from '@belay/testing'
import { createEngine, define, jsonLogger, type Logger } from '@belay/workflow'
import { metrics, NodeSDK, tracing } from '@opentelemetry/sdk-node'

const spans = new tracing.InMemorySpanExporter()
const processor = new tracing.SimpleSpanProcessor(spans)
const points = new metrics.InMemoryMetricExporter(metrics.AggregationTemporality.CUMULATIVE)
const reader = new metrics.PeriodicExportingMetricReader({ exporter: points })

const telemetry = createTelemetry()
const sdk = new NodeSDK({
  idGenerator: telemetry.idGenerator,
  spanProcessors: [processor],
  metricReaders: [reader],
  logRecordProcessors: [],
})
sdk.start()

const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const engine = createEngine({
  ...telemetry.engineOptions,
  adapter: memory({ clock: 'real' }),
  workflows: [greet],
})
telemetry.observe(engine)
await engine.start()
const run = await engine.run(greet)
await run.result()
await reader.forceFlush()
await engine.close()
await processor.forceFlush()

const traces = spans.getFinishedSpans().map((span) => `${span.spanContext().traceId} ${span.name}`)
const scopes = points.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
const measured = scopes.flatMap((scope) => scope.metrics.map(({ descriptor }) => descriptor.name))
console.log(JSON.stringify({ runId: run.id, traces, measured }))
await sdk.shutdown()

// Never called: only compiled.
export const typed = {
  logger: (): Logger => telemetry.logger(jsonLogger()),
  // @ts-expect-error a function is no engine
  wrongEngine: () => telemetry.observe(() => {}),
  // @ts-expect-error there is no such option
  wrongOption: () => createTelemetry({ clok: { now: () => 0 } }),
}
