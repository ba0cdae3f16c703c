import { INSTRUMENTS, type Instrument, type InstrumentName } from './instruments.ts'

type NamesOf<Kind extends Instrument['kind']> = {
  [Name in InstrumentName]: (typeof INSTRUMENTS)[Name]['kind'] extends Kind ? Name : never
}[InstrumentName]

export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>
export type GaugeName = NamesOf<'gauge'>

export const COUNTERS = namesOf('counter')
export const HISTOGRAMS = namesOf('histogram')
export const GAUGES = namesOf('gauge')

/**
 * The upper bounds of the buckets, in seconds. Attempts and queues: from a few milliseconds to an hour, with the usual steps. Runs: from a tenth of a
 * second to a month, because a run may wait for days.
 */
export const BUCKETS: Readonly<Record<HistogramName, readonly number[]>> = {
  'belay.run.duration': [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 604_800, 2_592_000],
  'belay.attempt.duration': [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600,
  ],
  'belay.queue.wait': [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600],
}

/** The name in Prometheus, by the conversion of OpenTelemetry: `belay.run.duration` in `s` is `belay_run_duration_seconds`. Counters end in `_total`. */
export function prometheusName(name: InstrumentName): string {
  const { kind, unit }: Instrument = INSTRUMENTS[name]
  return `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${kind === 'counter' ? '_total' : ''}`
}

function namesOf<Kind extends Instrument['kind']>(kind: Kind): readonly NamesOf<Kind>[] {
  const names = Object.keys(INSTRUMENTS) as InstrumentName[]
  return names.filter((name): name is NamesOf<Kind> => INSTRUMENTS[name].kind === kind)
}
