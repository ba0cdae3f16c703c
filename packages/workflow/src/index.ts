export type {
  CallerTransaction,
  CallerTransactions,
  Isolation,
  StepTransaction,
  TransactionOptions,
  TypedTransaction,
} from './adapter/index.ts'
export {
  FAILED_STATUSES,
  STATUS_WORDS,
  type StatusWord,
  statusesIn,
  statusesOf,
} from './adapter/status-words.ts'
export type { RunCause, SerialisedError, SettledError } from './cause.ts'
export type { Clock, Recurrence, Timer } from './clock.ts'
export * from './definition/index.ts'
export { type Duration, type DurationWritten, durationMs } from './duration.ts'
export * from './engine/index.ts'
export * from './errors.ts'
export { parseExactJson } from './exact-json.ts'
export { type MermaidOptions, type StepGraph, toMermaid } from './graph/index.ts'
export * from './handler-errors.ts'
export { type Instant, instantMs } from './instant.ts'
export type { LogFields, Logger } from './logger.ts'
