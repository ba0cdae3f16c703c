export { DURATION_MAX } from '../duration.ts'
export { addStep } from './add-step.ts'
export type { ChildLoopOptions } from './child-loop-options.ts'
export type { ChildInputOf, ChildOptions, ChildOutputOf } from './child-options.ts'
export type { ChooseOptions } from './choose-options.ts'
export { VERSION_MAX } from './compile.ts'
export type { Condition, When, WhenContext, WhenHandler } from './condition.ts'
// The emitted declarations of users' workflows name the marks.
export type { Chosen, ConditionOptions, MaybeSkipped, MayFail } from './condition-options.ts'
export { type DefineOptions, define } from './define.ts'
export { defineGraph } from './define-graph.ts'
export type {
  EndContext,
  EndedRun,
  EndedUndo,
  EndKind,
  EndStepOptions,
  EndSteps,
  WorkflowWithEnds,
} from './end-options.ts'
export type { FanOptions } from './fan-options.ts'
export type { GraphChoice, GraphCondition } from './graph-condition.ts'
export type { GraphEndStep } from './graph-ends.ts'
export type {
  GraphAttemptOptions,
  GraphChildLoop,
  GraphCompensation,
  GraphConcurrency,
  GraphFan,
  GraphHandlerContext,
  GraphHandlers,
  GraphLoop,
  GraphMap,
  GraphOptions,
  GraphRunConcurrency,
  GraphStep,
  GraphStepDefaults,
} from './graph-options.ts'
export type { GraphWait } from './graph-wait.ts'
export type {
  CompensationContext,
  CompensationHandler,
  Handler,
  StepContext,
  TransactionContext,
} from './handler.ts'
export { InputIssues, unchecked } from './input-schema.ts'
export type {
  ConcurrencyOptions,
  LimitKeyContext,
  RateLimitOptions,
  RunConcurrencyOptions,
  RunLimitKeyContext,
} from './limit-options.ts'
export type { EndedRoundContext, RepeatOptions, RoundContext } from './loop-options.ts'
export type {
  CompensateItemOptions,
  ItemContext,
  MapOptions,
  MapOutput,
  OnItemFailure,
  UndoItemsContext,
  UndoneItem,
} from './map-options.ts'
export { ATTEMPTS_MAX, DEFAULT_RETRY, type RetryOptions } from './retry-policy.ts'
export type { FailingOptions, OnFailure, Settled } from './settled.ts'
export type { BatchOptions, StartInput, StartKey, StartOptions } from './start-options.ts'
export type { StartPolicy } from './start-policy.ts'
export type { BranchPolicy, Compensation, RetryPolicy, StepDefinition, TransactionPolicy } from './step.ts'
export { LOSSES_MAX } from './step-draft.ts'
export type {
  AttemptOptions,
  CompensateOn,
  CompensateOptions,
  OnlyStepsNamedInDependsOn,
  StepDefaults,
  StepOptions,
  UndoContext,
  UndoOfCompleted,
  UndoOfSucceeded,
  UndoOfUnfinished,
} from './step-options.ts'
export type { CannotBeStored, Storable, StorableOutput, StorableSchema } from './storable.ts'
export type { Stored } from './stored.ts'
export type { ContextOf, TransactionOption } from './transaction.ts'
export type { InputOf, OutputsOf, ReceivesOf, TypedDefinition } from './typed-definition.ts'
export type { Workflow } from './typed-workflow.ts'
export type {
  Child,
  ChildKey,
  ChildKeyContext,
  ChildWorkflow,
  OnTimeout,
  Poll,
  SignalWait,
  Sleep,
  Wait,
} from './wait.ts'
export type {
  Approval,
  ApprovalOptions,
  ApprovalOutput,
  PollOptions,
  PollOutput,
  Receives,
  ReceivesAnything,
  ReceivesApproval,
  ReceivesNothing,
  ReceivesSignal,
  SignalOutput,
  SleepOptions,
  WaitForSignalOptions,
} from './wait-options.ts'
export type { WorkflowDefinition } from './workflow.ts'
