export type { Approvals, PendingApproval, PendingApprovalsOptions } from './approvals.ts'
export type { BulkOptions, BulkResult } from './control/bulk.ts'
export type { CancelOptions } from './control/control.ts'
export type { RunHistoryEntry } from './control/history.ts'
export type { ActionOptions, WithinActionOptions } from './control/options.ts'
export type { DoctorOptions, DoctorReport } from './doctor.ts'
export { createEngine, type Engine, type NewRunOf, type RunArguments } from './engine.ts'
export type { EngineEvents, EventListener, RunEvent, RunIdentity, StepEvent } from './events.ts'
export type { Explanation, StepExplanation, StepReason } from './explain/explanation.ts'
export type { Finding } from './findings.ts'
export type { EngineOptions } from './options.ts'
export type { Archive, ArchivedRun, PruneOptions, PruneReport } from './prune.ts'
export type { ReleasedKeys, ReleaseKeysOptions } from './release-keys.ts'
export type { ResultOptions } from './result-options.ts'
export type { RetentionPolicy } from './retention-policy.ts'
export type { RunAttempt } from './run-attempt.ts'
export { RunFailedError, type UndoReport } from './run-failed-error.ts'
export type {
  ApprovalNames,
  ApprovalPayload,
  ApproveOptionsOf,
  KeyedRunHandle,
  RunHandle,
  SignalArguments,
  SignalNames,
  SignalPayload,
  StepNameOf,
} from './run-handle.ts'
export type { HandleOn, OutputsAt, RunReference, SentTo } from './run-reference.ts'
export type { RunSnapshot, RunSummary, StepSnapshot, StepUndo } from './run-snapshot.ts'
export type { CountedByStatus, CountedRuns, Runs, RunsFilter, RunsToChange, RunsToCount } from './runs.ts'
export type { RunsMatching } from './runs-filter.ts'
export type {
  ApproveOptions,
  RejectOptions,
  SignalOptions,
  SignalReceipt,
} from './signals.ts'
export type { NamedRunHandle, RunByNameOptions } from './start-by-name.ts'
export type { RunOptions } from './start-run.ts'
export type { StartTimes } from './start-times.ts'
export {
  type SignalledProcess,
  type StopOnSignalsOptions,
  type StopSignal,
  stopOnSignals,
} from './stop-on-signals.ts'
export type { HeldStep, WorkerSnapshot, Workers } from './workers.ts'
