import type { Engine } from '@belay/workflow'
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import { INSTRUMENTS, type InstrumentName } from '../../src/metrics/instruments.ts'
import { observeMetrics } from '../../src/metrics/otel.ts'
import { prometheusName } from '../../src/prometheus.ts'

/** All series, by the name in the table. A series of a histogram has the number of its values. */
export type Series = Readonly<Record<string, readonly { labels: Record<string, unknown>; value: number }[]>>

/** Measures an engine with the SDK. Returns the function that collects. */
export function withSdk(
  engine: Engine,
  { temporality = AggregationTemporality.CUMULATIVE } = {},
): { collect: () => Promise<Series>; stop: () => void } {
  const exporter = new InMemoryMetricExporter(temporality)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const stop = observeMetrics(engine, provider.getMeter('test'))
  onTestFinished(() => provider.shutdown())
  return {
    stop,
    collect: async () => {
      exporter.reset()
      await provider.forceFlush()
      const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics[0]?.metrics ?? [])
      return Object.fromEntries(
        metrics.map(({ descriptor, dataPointType, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ attributes, value }) => ({
            labels: { ...attributes },
            value:
              dataPointType === DataPointType.HISTOGRAM
                ? (value as { count: number }).count
                : (value as number),
          })),
        ]),
      )
    },
  }
}

/** The same from a register. */
export async function inRegister(register: Registry): Promise<Series> {
  const names = Object.keys(INSTRUMENTS) as InstrumentName[]
  const metrics = await register.getMetricsAsJSON()
  const all = names.map((name): [string, Series[string]] => {
    const own = prometheusName(name)
    const { values } = metrics.find((metric) => metric.name === own)!
    const wanted = INSTRUMENTS[name].kind === 'histogram' ? `${own}_count` : undefined
    const series = values.filter((value) => (value as { metricName?: string }).metricName === wanted)
    return [name, series.map(({ labels, value }) => ({ labels: { ...labels }, value }))]
  })
  return Object.fromEntries(all.filter(([, series]) => series.length > 0))
}

/** The value of the one series with these labels; undefined if there is none. */
export function valueIn(
  series: Series,
  name: InstrumentName,
  labels: Record<string, string> = {},
): number | undefined {
  const found = (series[name] ?? []).filter((one) =>
    Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )
  if (found.length > 1) throw new Error(`${name} has ${found.length} series with ${JSON.stringify(labels)}.`)
  return found[0]?.value
}

/** In one order, to compare. */
export function sorted(series: Series): Series {
  const text = (one: Series[string][number]) => JSON.stringify(Object.entries(one.labels).sort())
  return Object.fromEntries(
    Object.entries(series).map(([name, all]) => [
      name,
      [...all].sort((a, b) => text(a).localeCompare(text(b))),
    ]),
  )
}
