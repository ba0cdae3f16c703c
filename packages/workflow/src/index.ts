export type { Clock, Timer } from './clock.ts'
export type { Duration } from './duration.ts'
export * from './errors.ts'
