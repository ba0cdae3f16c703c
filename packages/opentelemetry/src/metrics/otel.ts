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
 * Of more than 500 durations a second only some are recorded, by chance; counters count all.
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
  const sample = new Sample()
  const watch = watchEngine(engine, {
    bounds: LabelBounds.of(meter, (message) => diag.warn(message)),
    histogram: (name, labels) => {
      const histogram = histograms[name]
      return (seconds) => {
        if (sample.takes()) histogram.record(seconds, labels)
      }
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
    sample.stop()
    meter.removeBatchObservableCallback(collect, observables)
    observed.delete(meter)
  }
}

/** The most durations that the SDK gets in a second, about. */
const RECORDS_MAX = 500

/**
 * Chooses durations by chance once there are many. The SDK looks up the attributes of each value, 1.5 µs, and a worker that ends 20,000 attempts a second
 * would lose a tenth of its speed to that. Quantiles and means stay what they are; the numbers of runs and attempts are in the counters, which are exact.
 */
class Sample {
  #seen = 0
  #taken = 0
  #share = 1
  readonly #timer = setInterval(() => {
    this.#share = Math.min(1, RECORDS_MAX / this.#seen)
    this.#seen = 0
    this.#taken = 0
  }, 1_000).unref()

  takes(): boolean {
    this.#seen += 1
    // A burst is not known before it is over.
    if (this.#taken >= 2 * RECORDS_MAX || (this.#share < 1 && Math.random() >= this.#share)) return false
    this.#taken += 1
    return true
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Whether this meter measures an engine. */
export function isMeasuring(meter: Meter): boolean {
  return observed.has(meter)
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
