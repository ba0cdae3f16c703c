export { INSTRUMENTS, type Instrument, type InstrumentName } from './metrics/instruments.ts'
export { observeMetrics } from './metrics/otel.ts'
