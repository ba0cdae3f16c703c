export type { Around, HandledAttempt } from './attempt/around.ts'
export type {
  EngineEvents,
  EventListener,
  RunEvent,
  RunIdentity,
  SettledStepEvent,
  StepEvent,
} from './base/events.ts'
export type { StepProgress } from './base/told-values.ts'
export type { WorkflowStep } from './base/workflow-steps.ts'
export type { StepRepair } from './control/action.ts'
export type { BulkOptions } from './control/bulk.ts'
export type { BulkProgress, BulkRefusal, BulkResult, RefusedRun } from './control/bulk-result.ts'
export type { CancelOptions } from './control/control.ts'
export type { DropOptions, DroppedRuns } from './control/drop-forgotten.ts'
export type { RunHistoryEntry } from './control/history.ts'
export type {
  LimitLineSnapshot,
  LimitSetting,
  LimitSnapshot,
  Limits,
  RateSnapshot,
} from './control/limits.ts'
export type { ActionOptions, WithinActionOptions } from './control/options.ts'
export type { DoctorOptions, DoctorReport } from './diagnosis/doctor.ts'
export type {
  AwaitedLimit,
  ExplainOptions,
  Explanation,
  ItemsLeftOut,
  SkipExplanation,
  StepExplanation,
  StepReason,
} from './diagnosis/explain/explanation.ts'
export type { Finding } from './diagnosis/finding.ts'
export type { OfferedAction, OfferedVerb } from './diagnosis/offered-action.ts'
export { type Quote, type Quoted, quoteWithoutPayloads } from './diagnosis/quote.ts'
export type { HeldStep, WorkerSnapshot, Workers } from './diagnosis/worker-list.ts'
export { createEngine, type Engine } from './engine.ts'
export type { ExportedRun, RunsToExport } from './handles/export-runs.ts'
export type { HandleOn } from './handles/handle-on.ts'
export type { QueueOverview } from './handles/queue.ts'
export type {
  ApprovalNames,
  ApprovalPayload,
  ApproveOptionsOf,
  KeyedRunHandle,
  RunHandle,
  SignalArguments,
  SignalNames,
  SignalPayload,
} from './handles/run-handle.ts'
export type {
  Runs,
  RunsFilter,
  RunsToCount,
} from './handles/runs.ts'
export type { RunsToChange } from './handles/runs-to-change.ts'
export type { NamedRunHandle, RunByNameOptions } from './handles/start-by-name.ts'
export type { StepNameOf } from './handles/step-names.ts'
export type {
  WorkflowSnapshot,
  WorkflowSummary,
  Workflows,
  WorkflowVersion,
} from './handles/workflows.ts'
export { type JsonLoggerOptions, jsonLogger, type PinoLike, pinoLogger } from './loggers.ts'
export type { EngineOptions } from './options.ts'
export {
  type SignalledProcess,
  type StopOnSignalsOptions,
  type StopSignal,
  stopOnSignals,
} from './process-signals.ts'
export type { Archive, ArchivedRun, PruneOptions, PruneReport } from './retention/prune.ts'
export type { ReleasedKeys, ReleaseKeysOptions } from './retention/release-keys.ts'
export type { RetentionPolicy } from './retention/retention-policy.ts'
export type { CountedByStatus, CountedRuns } from './runs/counted-runs.ts'
export type { ItemsPage } from './runs/items-page.ts'
export type { MapState } from './runs/map-state.ts'
export type { ResultOptions } from './runs/result-options.ts'
export type { RunAttempt } from './runs/run-attempt.ts'
export { RunFailedError, type UndoReport, undoReport } from './runs/run-failed-error.ts'
export type { OutputsAt, RunReference, SentTo } from './runs/run-reference.ts'
export type { RunSnapshot, RunSummary, StepSkip, StepSnapshot, StepUndo } from './runs/run-snapshot.ts'
export type { RunsMatching } from './runs/runs-filter.ts'
export { StepFailedError } from './runs/step-result.ts'
export { type RunWithSteps, type StepState, stepStates } from './runs/step-states.ts'
export type { WatchedChange, WatchedStep, WatchOptions } from './runs/watch-run.ts'
export type { BackfillOptions, BackfillReport } from './schedules/backfill.ts'
export type { ScheduleExplanation } from './schedules/explain-schedule.ts'
export type { PreviewOptions, ScheduledTime } from './schedules/preview.ts'
export type { DeclaredSchedule, NamedSchedule, ScheduleOptions } from './schedules/schedule-options.ts'
export type { ScheduleFiring, ScheduleSnapshot } from './schedules/schedule-snapshot.ts'
export type {
  FiringsToRead,
  PauseScheduleOptions,
  Schedules,
  SchedulesToList,
  WithinScheduleOptions,
} from './schedules/schedules.ts'
export type { TriggerOptions } from './schedules/trigger.ts'
export type { Approvals, PendingApproval, PendingApprovalsOptions } from './signals/approvals.ts'
export type {
  ApproveOptions,
  RejectOptions,
  SignalOptions,
  SignalReceipt,
} from './signals/signals.ts'
export type { CollectedStart } from './start/collect-run.ts'
export type { NewRunOf, RunArguments } from './start/run-arguments.ts'
export type { RunOptions } from './start/run-options.ts'
export type { StartTimes } from './start/start-times.ts'
export type { Gauges } from './worker/gauges.ts'
