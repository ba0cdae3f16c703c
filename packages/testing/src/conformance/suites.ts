import type { Cases } from './case.ts'
import { approvalCases } from './cases/approvals.ts'
import { attemptCases } from './cases/attempts.ts'
import { branchCases } from './cases/branches.ts'
import { changedRunCases } from './cases/changed-runs.ts'
import { childRoundCases } from './cases/child-rounds.ts'
import { childCases } from './cases/children.ts'
import { fencedChildCases } from './cases/children-fenced.ts'
import { claimCases } from './cases/claim.ts'
import { collectingCases } from './cases/collecting.ts'
import { collectingWithinCases } from './cases/collecting-within.ts'
import { connectionCases } from './cases/connection.ts'
import { continuedCases } from './cases/continued.ts'
import { controlCases } from './cases/control.ts'
import { controlRaceCases } from './cases/control-races.ts'
import { controlledWaitCases } from './cases/control-waits.ts'
import { controlWithinCases } from './cases/control-within.ts'
import { deadlineCases } from './cases/deadlines.ts'
import { definitionCases } from './cases/definitions.ts'
import { diagnosisCases } from './cases/diagnosis.ts'
import { drainCases } from './cases/drain.ts'
import { failCases } from './cases/fail.ts'
import { fenceCases } from './cases/fences.ts'
import { findingCases } from './cases/finding.ts'
import { heartbeatCases } from './cases/heartbeats.ts'
import { historyCases } from './cases/history.ts'
import { itemCases } from './cases/items.ts'
import { keptAttemptCases } from './cases/kept-attempts.ts'
import { keptValueCases } from './cases/kept-values.ts'
import { keyCases } from './cases/keys.ts'
import { leaseCases } from './cases/leases.ts'
import { limitCases } from './cases/limits.ts'
import { limitLeftCases } from './cases/limits-left.ts'
import { limitCircleCases, limitedRunCases } from './cases/limits-of-runs.ts'
import { olderRunCases } from './cases/limits-older.ts'
import { limitRecoveryCases } from './cases/limits-recovered.ts'
import { listingCases } from './cases/listing.ts'
import { loopCases } from './cases/loops.ts'
import { continuedLoopCases } from './cases/loops-continued.ts'
import { mapLimitCases } from './cases/map-limits.ts'
import { mapCases } from './cases/maps.ts'
import { migrationCases } from './cases/migration.ts'
import { pauseCases } from './cases/pause.ts'
import { pausedItemCases } from './cases/paused-items.ts'
import { pausedStopCases } from './cases/paused-stop.ts'
import { pausedUndoCases } from './cases/paused-undo.ts'
import { payloadCases } from './cases/payloads.ts'
import { pivotCases } from './cases/pivots.ts'
import { priorityCases } from './cases/priorities.ts'
import { raceCases } from './cases/races.ts'
import { rateCases } from './cases/rates.ts'
import { runRateCases } from './cases/rates-of-runs.ts'
import { readingCases } from './cases/reading.ts'
import { readyCases } from './cases/ready.ts'
import { refusedStartCases } from './cases/refused-starts.ts'
import { reopenCases } from './cases/reopen.ts'
import { repairCases } from './cases/repair.ts'
import { requeueCases } from './cases/requeue.ts'
import { retentionCases } from './cases/retention.ts'
import { runEndCases } from './cases/run-ends.ts'
import { scheduleRaceCases } from './cases/schedule-races.ts'
import { scheduleCases } from './cases/schedules.ts'
import { settleCases } from './cases/settle.ts'
import { signalCases } from './cases/signals.ts'
import { signalAnewCases } from './cases/signals-anew.ts'
import { signalWithinCases } from './cases/signals-within.ts'
import { sizeCases } from './cases/sizes.ts'
import { startCases } from './cases/start.ts'
import { startLeasedCases } from './cases/start-leased.ts'
import { startTimeCases } from './cases/start-times.ts'
import { stopCases } from './cases/stop.ts'
import { succeededCases } from './cases/succeeded.ts'
import { sweepCases } from './cases/sweep.ts'
import { tagCases } from './cases/tags.ts'
import { transactCases } from './cases/transact.ts'
import { rolledBackCases } from './cases/transact-rolled-back.ts'
import { transactionCases } from './cases/transactions.ts'
import { undoCases } from './cases/undo.ts'
import { undoOrderCases } from './cases/undo-order.ts'
import { undoTryCases } from './cases/undo-tries.ts'
import { valueCases } from './cases/values.ts'
import { versionCases } from './cases/versions.ts'
import { waitedCases } from './cases/waited.ts'
import { waitCases } from './cases/waits.ts'
import { wakingParentCases } from './cases/waking-parents.ts'
import { workerCases } from './cases/workers.ts'

/** Every case of the conformance suite, by subject. A file of cases that is missing here does not run: knip reports it. */
export const SUITES: Readonly<Record<string, Cases>> = {
  definitions: definitionCases,
  start: startCases,
  'start leased': startLeasedCases,
  claim: claimCases,
  settle: settleCases,
  fences: fenceCases,
  fail: failCases,
  'failures past which a run continues': continuedCases,
  requeue: requeueCases,
  attempts: attemptCases,
  'kept attempts': keptAttemptCases,
  stop: stopCases,
  'steps that succeeded and failed': succeededCases,
  drain: drainCases,
  'begin undo': undoCases,
  'undo order': undoOrderCases,
  leases: leaseCases,
  sweep: sweepCases,
  'reports on runs': changedRunCases,
  races: raceCases,
  pause: pauseCases,
  control: controlCases,
  'control of waits': controlledWaitCases,
  'control in transactions': controlWithinCases,
  'retry of a run': reopenCases,
  'repair of an undo': repairCases,
  'stop of a paused run': pausedStopCases,
  'pause of an undo': pausedUndoCases,
  'an undo stopped between its attempts': undoTryCases,
  'migration of a run': migrationCases,
  history: historyCases,
  'races of control': controlRaceCases,
  sizes: sizeCases,
  payloads: payloadCases,
  reading: readingCases,
  'what is ready': readyCases,
  'how long a step was due': waitedCases,
  tags: tagCases,
  'finding runs': findingCases,
  'listing runs': listingCases,
  'published values': valueCases,
  'kept values': keptValueCases,
  heartbeats: heartbeatCases,
  pivots: pivotCases,
  versions: versionCases,
  workers: workerCases,
  retention: retentionCases,
  keys: keyCases,
  'ends of runs': runEndCases,
  children: childCases,
  'fenced starts of children': fencedChildCases,
  'waking parents': wakingParentCases,
  diagnosis: diagnosisCases,
  loops: loopCases,
  'rounds with children': childRoundCases,
  'failures of loops past which a run continues': continuedLoopCases,
  maps: mapCases,
  'limits of maps': mapLimitCases,
  'items of paused runs': pausedItemCases,
  items: itemCases,
  branches: branchCases,
  limits: limitCases,
  'limits, not waited for': limitLeftCases,
  'limits of runs': limitedRunCases,
  'circles of limits': limitCircleCases,
  'limits of the newest runs': olderRunCases,
  'limits that refuse a start': refusedStartCases,
  'limits, recovered': limitRecoveryCases,
  rates: rateCases,
  'rates of runs': runRateCases,
  waits: waitCases,
  signals: signalCases,
  'signals of a step that asks anew': signalAnewCases,
  'pending approvals': approvalCases,
  priorities: priorityCases,
  'start times': startTimeCases,
  deadlines: deadlineCases,
  'collected calls': collectingCases,
  'collected calls in transactions': collectingWithinCases,
  schedules: scheduleCases,
  'races of schedules': scheduleRaceCases,
  connection: connectionCases,
  transactions: transactionCases,
  'signals in transactions': signalWithinCases,
  transact: transactCases,
  'a transact that is rolled back': rolledBackCases,
}
