import type { Engine, EngineOptions, Logger, PinoLike } from '@belay/workflow'
import { metrics, trace } from '@opentelemetry/api'
import { checkEngine } from './metrics/check.ts'
import { observeMetrics } from './metrics/otel.ts'
import { AttemptSpans } from './traces/attempts.ts'
import { Callers } from './traces/callers.ts'
import { type IdGenerator, SpanIds } from './traces/ids.ts'
import { tracedLogger } from './traces/logger.ts'
import { RunContexts } from './traces/run-contexts.ts'
import { RunSpans } from './traces/run-spans.ts'

/** The name of the tracer. */
const SCOPE = '@belay/opentelemetry'

export interface TelemetryOptions {
  /** The source of times, in epoch milliseconds: give `adapter.clock` if the store's time is virtual. Default: the clock of the SDK. */
  readonly clock?: { now(): number }
}

/** What connects engines with OpenTelemetry. One for a process. */
export interface Telemetry {
  /** For the SDK: `new NodeSDK({ idGenerator: telemetry.idGenerator })`. Spans that are not of a run get random ids. */
  readonly idGenerator: IdGenerator
  /** For the engine: `createEngine({ ...telemetry.engineOptions, adapter, workflows })`. To add hooks of your own, give `around: [...telemetry.engineOptions.around, own]`. */
  readonly engineOptions: Required<Pick<EngineOptions, 'around' | 'traceparent'>>
  /** A logger whose messages have `trace_id` and `span_id`: for `createEngine({ logger })`. Takes `jsonLogger()`, a pino logger, or another `Logger`. */
  logger(logger: Logger | PinoLike): Logger
  /**
   * Exports the spans and the metrics of what this engine does. Call it after the SDK has started, and before `engine.start()`. Returns a function that ends it. `engine.close()` waits until the
   * spans of its last runs are with the SDK, a second at most: shut down the SDK after it.
   *
   * @throws BelayError `invalid_option` for anything but an engine.
   */
  observe(engine: Engine): () => void
}

/**
 * Makes one trace of each run, across processes and days, and metrics of each engine.
 *
 * @example
 * const telemetry = createTelemetry()
 * new NodeSDK({ idGenerator: telemetry.idGenerator }).start()
 * const engine = createEngine({ ...telemetry.engineOptions, adapter, workflows: [order] })
 * telemetry.observe(engine)
 * await engine.start()
 */
export function createTelemetry({ clock }: TelemetryOptions = {}): Telemetry {
  const ids = new SpanIds()
  const tracer = () => trace.getTracer(SCOPE)
  const runs = new RunContexts({ tracer, ids })
  const attempts = new AttemptSpans({ tracer, ids, runs, now: clock && (() => clock.now()) })
  const callers = new Callers()
  let engines = 0
  return {
    idGenerator: ids,
    engineOptions: { around: [attempts.around], traceparent: callers.traceparent },
    logger: (logger) => tracedLogger(logger, attempts),
    observe(engine) {
      checkEngine('telemetry.observe()', engine)
      const spans = new RunSpans({ tracer, ids, runs, now: () => (clock ?? Date).now() }, engine)
      engines += 1
      const ends = [
        // Two engines of one process must not count as one.
        observeMetrics(engine, metrics.getMeter(engines === 1 ? SCOPE : `${SCOPE}/${engines}`)),
        engine.on('run.started', (event) => callers.started(event)),
        engine.on('run.compensating', (event) => spans.stopped(event)),
        engine.on('run.ended', (event) => spans.ended(event)),
        engine.on('step.recovered', (event) => attempts.lost(event)),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}
