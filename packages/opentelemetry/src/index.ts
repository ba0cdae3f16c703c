export { INSTRUMENTS, type Instrument, type InstrumentName } from './metrics/instruments.ts'
