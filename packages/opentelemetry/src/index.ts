export { INSTRUMENTS, type Instrument, type InstrumentName } from './metrics/instruments.ts'
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts'
export type { IdGenerator } from './traces/ids.ts'
