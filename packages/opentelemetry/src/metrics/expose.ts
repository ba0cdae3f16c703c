import { BelayError, type Engine } from '@belay/workflow'
import type { Metric, Registry } from 'prom-client'
import { INSTRUMENTS, type InstrumentName } from './instruments.ts'
import { kept, LabelBounds, type Labels, type Measurement } from './labels.ts'
import { BUCKETS, COUNTERS, GAUGES, HISTOGRAMS, type HistogramName, prometheusName } from './names.ts'
import { watchEngine } from './watch.ts'

interface Exposed {
  readonly engine: Engine
  readonly remove: () => void
  users: number
}

const exposedBy = new WeakMap<Registry, Exposed>()

/**
 * Puts the metrics of an engine into a register, and returns the function that takes them out. Asked again for the same engine, it counts nothing twice.
 * Throws `invalid_option` if the register has another engine's: nothing in the metrics would tell the two apart.
 */
export function expose(call: string, engine: Engine, register: Registry): () => void {
  const exposed = exposedBy.get(register) ?? open(call, engine, register)
  if (exposed.engine !== engine) throw occupied(call, 'the metrics of another engine')
  exposed.users += 1
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    exposed.users -= 1
    if (exposed.users === 0) exposed.remove()
  }
}

function open(call: string, engine: Engine, register: Registry): Exposed {
  const names = Object.keys(INSTRUMENTS).map((name) => prometheusName(name as InstrumentName))
  const taken = names.find((name) => register.getSingleMetric(name) !== undefined)
  if (taken !== undefined) throw occupied(call, `a metric "${taken}"`)
  const histograms = new Map<HistogramName, Map<string, Bucketed>>(
    HISTOGRAMS.map((name) => [name, new Map()]),
  )
  const watch = watchEngine(engine, {
    bounds: LabelBounds.of(register, (message) => console.warn(message)),
    histogram: (name, labels) => {
      // The versions of a workflow share the series of its steps.
      const own = () => new Bucketed(labels, BUCKETS[name])
      const series = kept(histograms.get(name)!, JSON.stringify(labels), own)
      return (seconds) => series.observe(seconds)
    },
  })
  for (const name of COUNTERS) add(register, name, () => samples(watch.counts(name)))
  for (const name of HISTOGRAMS) {
    add(register, name, () =>
      [...histograms.get(name)!.values()].flatMap((one) => one.samples(prometheusName(name))),
    )
  }
  for (const name of GAUGES) add(register, name, async () => samples((await watch.gauges())[name]))
  const exposed = {
    engine,
    users: 0,
    remove: () => {
      watch.stop()
      exposedBy.delete(register)
      for (const name of names) register.removeSingleMetric(name)
    },
  }
  exposedBy.set(register, exposed)
  return exposed
}

function occupied(call: string, what: string): BelayError {
  return new BelayError('invalid_option', `${call}: the register has ${what} already.`, {
    remedy: 'Give each engine a register of its own, and serve each at a path of its own.',
  })
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

/**
 * Adds a metric of our own: what a register asks of one is its name, its type, and `get()`. The classes of prom-client hash and check the labels of each
 * single value, which would cost a fast worker a tenth of its speed.
 */
function add(
  register: Registry,
  name: InstrumentName,
  read: () => readonly Sample[] | Promise<readonly Sample[]>,
) {
  const { kind, help } = INSTRUMENTS[name]
  const metric = {
    name: prometheusName(name),
    help,
    type: kind,
    aggregator: 'sum',
    // The register may have renamed it: OpenMetrics wants the family of a counter without `_total`.
    get: async () => ({ name: metric.name, help, type: kind, aggregator: 'sum', values: await read() }),
    // What was counted stays counted: a reset counter looks like a restarted process.
    reset() {},
  }
  register.registerMetric(metric as unknown as Metric)
}

function samples(measurements: readonly Measurement[] = []): readonly Sample[] {
  return measurements.map(({ labels, value }) => ({ labels: { ...labels }, value }))
}

/** One series of a histogram, counted in place. */
class Bucketed {
  readonly #labels: Labels
  readonly #bounds: readonly number[]
  /** One for each bound, and one for what is above all of them. */
  readonly #counts: number[]
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket += 1
    this.#counts[bucket]! += 1
    this.#sum += value
  }

  /** None before the first value. */
  samples(name: string): readonly Sample[] {
    let count = 0
    const buckets = this.#counts.map((own, bucket) => {
      count += own
      const le = this.#bounds[bucket] ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { ...this.#labels, le }, value: count }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: { ...this.#labels }, value: this.#sum },
      { metricName: `${name}_count`, labels: { ...this.#labels }, value: count },
    ]
  }
}
