import { BelayError, type Engine, type EngineOptions, type Logger, type PinoLike } from '@belay/workflow'
import { createNoopMeter, type Meter, metrics, trace } from '@opentelemetry/api'
import { check, checkEngine } from './metrics/check.ts'
import { isMeasuring, observeMetrics } from './metrics/otel.ts'
import { AttemptSpans } from './traces/attempts.ts'
import { Callers } from './traces/callers.ts'
import { type IdGenerator, SpanIds } from './traces/ids.ts'
import { tracedLogger } from './traces/logger.ts'
import { RunContexts } from './traces/run-contexts.ts'
import { RunSpans } from './traces/run-spans.ts'

/** The name of the tracer and of the meter. */
const SCOPE = '@belay/opentelemetry'

export interface TelemetryOptions {
  /** The source of times, in epoch milliseconds: give `adapter.clock` if the store's time is virtual. Default: the clock of the SDK. */
  readonly clock?: { now(): number }
}

/** What connects engines with OpenTelemetry. One for a process. */
export interface Telemetry {
  /** For the SDK: `new NodeSDK({ idGenerator: telemetry.idGenerator })`. Spans that are not of a run get random ids. */
  readonly idGenerator: IdGenerator
  /**
   * For the engine: `createEngine({ ...telemetry.engineOptions, adapter, workflows })`. To add hooks of your own, give
   * `around: [...telemetry.engineOptions.around, own]`: an `around: [own]` replaces these, and attempts have no spans.
   */
  readonly engineOptions: Required<Pick<EngineOptions, 'around' | 'traceparent'>>
  /**
   * A logger whose messages have `trace_id` and `span_id`: for `createEngine({ logger })`. Takes `jsonLogger()`, a pino logger, or another `Logger`.
   *
   * @throws BelayError `invalid_option` for what lacks debug, info, warn or error.
   */
  logger(logger: Logger | PinoLike): Logger
  /**
   * Exports the spans and the metrics of what this engine does. Call it before `engine.start()`. Returns a function that ends it. The SDK may start later, but nothing from before its start is
   * exported. `engine.close()` waits until the spans of its last runs are with the SDK, a second at most: shut down the SDK after it.
   *
   * @throws BelayError `invalid_option` for anything but an engine, and for one that is observed already.
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
 *
 * @throws BelayError `invalid_option` for another option, and for a clock without `now()`.
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const { clock } = checked(options)
  const ids = new SpanIds()
  const tracer = () => trace.getTracer(SCOPE)
  const runs = new RunContexts({ tracer, ids })
  const attempts = new AttemptSpans({ tracer, ids, runs, now: clock && (() => clock.now()) })
  const callers = new Callers()
  const observed = new WeakSet<Engine>()
  return {
    idGenerator: ids,
    engineOptions: { around: [attempts.around], traceparent: callers.traceparent },
    logger(logger) {
      check(logger, LOGGER, 'telemetry.logger(): the logger must have debug(), info(), warn() and error()')
      return tracedLogger(logger, attempts)
    },
    observe(engine) {
      checkEngine('telemetry.observe()', engine)
      if (observed.has(engine)) {
        throw new BelayError('invalid_option', 'telemetry.observe(): this engine is observed already.', {
          remedy: 'Observe each engine once, or end that first.',
        })
      }
      observed.add(engine)
      const spans = new RunSpans({ tracer, ids, runs, attempts, now: () => (clock ?? Date).now() }, engine)
      const ends = [
        measure(engine),
        engine.on('worker.started', (event) => spans.workerStarted(event)),
        engine.on('run.started', (event) => callers.started(event)),
        engine.on('run.compensating', (event) => spans.stopped(event)),
        engine.on('run.ended', (event) => spans.ended(event)),
        engine.on('step.recovered', (event) => attempts.lost(event)),
      ]
      return () => {
        for (const end of ends) end()
        observed.delete(engine)
      }
    },
  }
}

const LOGGER = ['debug', 'info', 'warn', 'error']

function checked(options: TelemetryOptions): TelemetryOptions {
  const { clock, ...others } = Object(options) as TelemetryOptions
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    const name = JSON.stringify(unknown)
    throw new BelayError('invalid_option', `createTelemetry() has no option ${name}. It takes clock.`)
  }
  if (clock !== undefined)
    check(clock, ['now'], 'createTelemetry(): clock must have now(), as adapter.clock has')
  return clock === undefined ? {} : { clock }
}

/** A tracer begins to work when the SDK starts. A meter that was asked for before never does: it is asked for again when there is something to measure. */
function measure(engine: Engine): () => void {
  let stop: (() => void) | undefined
  const begin = () => {
    if (stop !== undefined) return
    const meter = freeMeter()
    if (meter !== createNoopMeter()) stop = observeMetrics(engine, meter)
  }
  begin()
  const listeners = [engine.on('worker.started', begin), engine.on('run.started', begin)]
  return () => {
    for (const end of [...listeners, stop]) end?.()
  }
}

/** Two engines of one process must not count as one: a second has a meter named `…/2`. */
function freeMeter(): Meter {
  for (let number = 1; ; number += 1) {
    const meter = metrics.getMeter(number === 1 ? SCOPE : `${SCOPE}/${number}`)
    if (!isMeasuring(meter)) return meter
  }
}
