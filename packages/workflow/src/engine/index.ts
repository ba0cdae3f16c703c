export { createEngine, type Engine, type NewRunOf, type RunArguments } from './engine.ts'
export type { EngineEvents, EventListener, RunEvent, StepEvent } from './events.ts'
export type { EngineOptions } from './options.ts'
export { RunFailedError, type UndoReport } from './run-failed-error.ts'
export type {
  ApprovalNames,
  ApprovalPayload,
  ApproveOptionsOf,
  RunHandle,
  SignalArguments,
  SignalNames,
  SignalPayload,
} from './run-handle.ts'
export type { RunSnapshot, RunSummary, StepSnapshot } from './run-snapshot.ts'
export type { Runs, RunsFilter } from './runs.ts'
export type {
  ApproveOptions,
  RejectOptions,
  SignalOptions,
  SignalReceipt,
  SignalTarget,
} from './signals.ts'
export type { RunOptions } from './start-run.ts'
export type { StartTimes } from './start-times.ts'
