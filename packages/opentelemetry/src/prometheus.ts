export { INSTRUMENTS } from './metrics/instruments.ts'
