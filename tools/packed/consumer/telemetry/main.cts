// The same in CommonJS.
import opentelemetry = require('@belay/opentelemetry')
import testing = require('@belay/testing')
import belay = require('@belay/workflow')
import sdkNode = require('@opentelemetry/sdk-node')

const spans = new sdkNode.tracing.InMemorySpanExporter()
const processor = new sdkNode.tracing.SimpleSpanProcessor(spans)
const telemetry = opentelemetry.createTelemetry()
const sdk = new sdkNode.NodeSDK({
  idGenerator: telemetry.idGenerator,
  spanProcessors: [processor],
  metricReaders: [],
  logRecordProcessors: [],
})
sdk.start()

const greet = belay.define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const engine = belay.createEngine({
  ...telemetry.engineOptions,
  adapter: testing.memory({ clock: 'real' }),
  workflows: [greet],
})
telemetry.observe(engine)

async function main() {
  await engine.start()
  const run = await engine.run(greet)
  await run.result()
  await engine.close()
  await processor.forceFlush()
  const traces = spans.getFinishedSpans().map((span) => `${span.spanContext().traceId} ${span.name}`)
  console.log(JSON.stringify({ runId: run.id, traces }))
  await sdk.shutdown()
}

void main()
