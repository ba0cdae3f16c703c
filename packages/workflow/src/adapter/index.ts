export type { Clock, Recurrence, Timer } from '../clock.ts'
export { type Duration, durationMs } from '../duration.ts'
export { BelayError, type BelayErrorCode, StoreContendedError, StoreUnavailableError } from '../errors.ts'
export {
  anything,
  callback,
  checkArgument,
  checkOptions,
  duration,
  having,
  type Kind,
  type OptionTable,
  oneOf,
  Refusal,
  readOptions,
  type SettingsOf,
  wholeNumber,
  yesOrNo,
} from '../options/index.ts'
export { shown } from '../shown.ts'
export { counted, sentence } from '../words.ts'
export type { Adapter } from './adapter.ts'
export type * from './approvals.ts'
export * from './branch.ts'
export type { CaseCondition } from './case-condition.ts'
export type * from './changed-run.ts'
export type { CollectMode } from './collect-mode.ts'
export * from './collected-calls.ts'
export type * from './control.ts'
export type * from './dated-run.ts'
export { DEFINITION_NUMBERS_MAX, definitionNumber } from './definition-number.ts'
export { turnOfEventLoop } from './event-loop.ts'
export { attemptKey, movesBefore } from './fence.ts'
export * from './heartbeats.ts'
export { HELD_TURNS, ITEMS_MAX, isItem, itemIndex, itemNumber, mapOf, templateOf } from './item-numbers.ts'
export {
  countItems,
  type DifferingItems,
  groupOf,
  ITEM_GROUP,
  type ItemCount,
  type ItemsInRange,
  type ItemsOfEachStatus,
  type ItemsPrint,
  type ItemsThatDiffer,
  type ItemsToRead,
  type ReadItems,
  withDiffering,
} from './items-to-read.ts'
export * from './lifecycle.ts'
export * from './limits.ts'
export type { MapKind } from './map-kind.ts'
export type * from './overview.ts'
export type * from './payloads.ts'
export { continuesPast, edgesOf, type PlacedShape, placeRows } from './placed-rows.ts'
export { leadOf, PRIORITY_MAX, placeOf, UNDO_LEAD_MINUTES } from './queue-place.ts'
export type * from './records.ts'
export type { RecoveredStep } from './recovered-step.ts'
export { missingDefinition, refusedSignals, refusedStart } from './refusals.ts'
export type * from './run-conditions.ts'
export type * from './run-ends.ts'
export * from './schedules.ts'
export { type Sending, sendApart } from './send-apart.ts'
export type * from './signals.ts'
export type * from './starts.ts'
export * from './step-kinds.ts'
export type { Stillness } from './stillness.ts'
export { DEADLINE_DROPPED, deadlineCause } from './stop-cause.ts'
export { isUnreachable } from './store-errors.ts'
export type * from './trail.ts'
export type * from './transaction.ts'
export type * from './undo.ts'
export type * from './upkeep.ts'
export type * from './values.ts'
export * from './verbs.ts'
