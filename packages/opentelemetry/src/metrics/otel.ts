import { BelayError, type Engine } from '@belay/workflow'
import { type BatchObservableResult, createNoopMeter, diag, type Meter } from '@opentelemetry/api'
import { check, checkEngine } from './check.ts'
import { INSTRUMENTS } from './instruments.ts'
import { LabelBounds, type Measurement } from './labels.ts'
import { BUCKETS, COUNTERS, GAUGES, HISTOGRAMS, type HistogramName } from './names.ts'
import { watchEngine } from './watch.ts'

const CALL = 'observeMetrics()'

const observed = new WeakSet<Meter>()

/**
 * Measures an engine with the instruments of {@link INSTRUMENTS}, until the returned function is called. Durations are in seconds. Each collection reads
 * the store, for at most 5 s: if it does not answer, `belay.store.up` is 0 and the gauges of the store are not observed. (The SDK then leaves them out
 * with delta temporality; with cumulative temporality it repeats their last values.) A meter without an SDK costs nothing.
 *
 * @example
 * ```ts
 * const stop = observeMetrics(engine, metrics.getMeter('@belay/opentelemetry'))
 * ```
 *
 * @throws BelayError `invalid_option` for what is no engine or no meter, and for a meter that measures an engine already: nothing in the measurements
 * would tell the two apart.
 */
export function observeMetrics(engine: Engine, meter: Meter): () => void {
  checkEngine(CALL, engine)
  check(
    meter,
    ['createHistogram', 'addBatchObservableCallback'],
    `${CALL}: the meter must be one of OpenTelemetry's, such as metrics.getMeter('belay')`,
  )
  if (meter === createNoopMeter()) return () => {}
  if (observed.has(meter)) {
    throw new BelayError('invalid_option', `${CALL}: this meter measures an engine already.`, {
      remedy: 'Stop that first, or give each engine a meter with a name of its own.',
    })
  }
  observed.add(meter)
  const histograms = openHistograms(meter)
  const watch = watchEngine(engine, {
    bounds: LabelBounds.of(meter, (message) => diag.warn(message)),
    histogram: (name, labels) => {
      const histogram = histograms[name]
      return (seconds) => histogram.record(seconds, labels)
    },
  })
  const counters = COUNTERS.map((name) => ({ name, of: meter.createObservableCounter(name, options(name)) }))
  const gauges = GAUGES.map((name) => ({ name, of: meter.createObservableGauge(name, options(name)) }))
  const observables = [...counters, ...gauges].map((instrument) => instrument.of)
  const collect = async (result: BatchObservableResult) => {
    const readings = await watch.gauges()
    const observe = (instrument: (typeof observables)[number], measurements: readonly Measurement[] = []) => {
      for (const { labels, value } of measurements) result.observe(instrument, value, labels)
    }
    // Counted in memory and observed here: the SDK would look up the attributes of each single attempt.
    for (const counter of counters) observe(counter.of, watch.counts(counter.name))
    for (const gauge of gauges) observe(gauge.of, readings[gauge.name])
  }
  meter.addBatchObservableCallback(collect, observables)
  return () => {
    watch.stop()
    meter.removeBatchObservableCallback(collect, observables)
    observed.delete(meter)
  }
}

function openHistograms(meter: Meter) {
  const open = (name: HistogramName) =>
    meter.createHistogram(name, {
      ...options(name),
      advice: { explicitBucketBoundaries: [...BUCKETS[name]] },
    })
  return Object.fromEntries(HISTOGRAMS.map((name) => [name, open(name)])) as Record<
    HistogramName,
    ReturnType<typeof open>
  >
}

function options(name: keyof typeof INSTRUMENTS) {
  const { help, unit } = INSTRUMENTS[name]
  return { description: help, unit }
}
