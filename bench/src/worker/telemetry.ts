import { createTelemetry } from '@belay/opentelemetry'
import { metricsHandler } from '@belay/opentelemetry/prometheus'
import { createEngine, type Engine, type EngineOptions } from '@belay/workflow'
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** What watches a worker. `metrics` and `prometheus`: nobody collects, so that only the events cost something. `traces`: of every run, into an exporter that drops them. */
export type Telemetry = 'metrics' | 'prometheus' | 'traces'

/** Makes an engine that is watched. */
export function watchedEngine(options: EngineOptions, by: Telemetry): Engine {
  if (by === 'prometheus') {
    const engine = createEngine(options)
    metricsHandler(engine)
    return engine
  }
  const telemetry = createTelemetry()
  if (by === 'metrics') {
    metrics.disable()
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new Nowhere()] }))
  } else {
    const exporter = { export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) }
    const spanProcessors = [new BatchSpanProcessor({ ...exporter, shutdown: async () => {} })]
    trace.disable()
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ idGenerator: telemetry.idGenerator, spanProcessors }),
    )
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  }
  const engine = createEngine({ ...options, ...(by === 'traces' ? telemetry.engineOptions : {}) })
  telemetry.observe(engine)
  return engine
}

class Nowhere extends MetricReader {
  protected async onShutdown(): Promise<void> {}
  protected async onForceFlush(): Promise<void> {}
}
