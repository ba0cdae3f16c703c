import { claimStepsDirectly } from '../src/claim/claim-directly.ts'
import { claimItems, findMapped, unpackRanges } from '../src/claim/claim-items.ts'
import { claimSteps, claimUndos } from '../src/claim/claim-steps.ts'
import type { Statement } from '../src/connection/statement.ts'
import { findEnds, forgetEnds } from '../src/ends/run-ends.ts'
import { wakeParentsStatement } from '../src/ends/wake-parents.ts'
import { findOlderRunsStatement } from '../src/limits/find-older-runs.ts'
import { findRunById, findRunByKey } from '../src/read/find-run.ts'
import { readHeartbeatDetails } from '../src/read/read-heartbeats.ts'
import {
  findLastRounds,
  readBranchPayloads,
  readItemOutputs,
  readRunPayloads,
  readStepPayloads,
} from '../src/read/read-payloads.ts'
import { readResultsStatement } from '../src/read/read-results.ts'
import { findEndedRuns } from '../src/retention/find-ended.ts'
import { pruneEndedRuns } from '../src/retention/prune-runs.ts'
import { releaseRunKeys } from '../src/retention/release-keys.ts'
import { readKeptAttempts } from '../src/rows/kept-attempts.ts'
import { cancelRunsStatement } from '../src/rows/stop-runs.ts'
import { lockFreeSchedules, lockSchedules, readOpenFirings } from '../src/schedules/lock-schedules.ts'
import {
  listDeclaredSchedules,
  listSchedules,
  listSchedulesOf,
  readDueSchedules,
  readFailingSchedules,
  readFiringsOf,
  readNamedSchedules,
  readQueuedFirings,
} from '../src/schedules/read-schedules.ts'
import {
  deleteSchedules,
  insertSchedules,
  updateSchedules,
  writeFirings,
} from '../src/schedules/write-schedules.ts'
import { continueAttempts, keptContinueAttempts } from '../src/settle/continue-attempts.ts'
import { decideAttempts } from '../src/settle/decide-attempts.ts'
import { expandMaps, keptExpandMaps } from '../src/settle/expand-maps.ts'
import {
  failAfterPivots,
  failAttempts,
  keptFailAfterPivots,
  keptFailAttempts,
} from '../src/settle/fail-attempts.ts'
import {
  finishAttempts,
  finishItems,
  keptFinishAttempts,
  keptFinishItems,
  keptSkipAttempts,
  skipAttempts,
} from '../src/settle/finish-attempts.ts'
import { keptParkUndos, parkUndos } from '../src/settle/park-undos.ts'
import { awaitAttempts, readAttempts } from '../src/settle/read-attempts.ts'
import { keptRepeatRounds, repeatRounds } from '../src/settle/repeat-rounds.ts'
import { keptRequeueAttempts, requeueAttempts } from '../src/settle/requeue-attempts.ts'
import { keptWaitAttempts, waitAttempts } from '../src/settle/wait-attempts.ts'
import { deliverSignalsStatement, readRefusedSignals } from '../src/signals/deliver-signals.ts'
import { findPendingApprovals, findPendingSignals } from '../src/signals/find-approvals.ts'
import { findCalls } from '../src/start/find-calls.ts'
import { readCollectedCalls, readCollections } from '../src/start/read-collections.ts'
import { changeCollectingRuns, writeCollections } from '../src/start/write-collections.ts'
import { beginUndos } from '../src/undo/begin-undo.ts'
import { cancelLeftovers, readDrainedOf, readDrainedRuns } from '../src/undo/drain-runs.ts'
import { expireRunsStatement, readUpcoming } from '../src/undo/expire-runs.ts'
import { publishValues } from '../src/values/publish-values.ts'
import { observeRunsStatement, readRunValues } from '../src/values/read-values.ts'
import { countLiveRuns, readStrandedSteps } from '../src/workers/diagnose.ts'
import { readHeldByWorker } from '../src/workers/list-held.ts'
import { placeLate } from '../src/workers/place-late-steps.ts'
import { readHeldSteps, readStatusesStatement, readStoppingRuns } from '../src/workers/read-state.ts'
import { countRecentRuns } from '../src/workers/recent-runs.ts'
import {
  journalDeadWorker,
  journalDeadWorkerUnread,
  keptRecoverSteps,
  recoverSteps,
} from '../src/workers/sweep-workers.ts'
import { trimLeases } from '../src/workers/trim-leases.ts'

export const WORKER = '00000000-0000-7000-8000-00000000000a'
const NO_ID = '00000000-0000-0000-0000-000000000000'

// A batch as a busy worker sends it: the planner of a custom plan sees its size.
const BATCH = 500
const RUN_IDS = list((index) => index.toString(16).padStart(32, '0'))
const many = (element: string) => list(() => element)

function list(element: (index: number) => string): string {
  return `'{${Array.from({ length: BATCH }, (_, index) => `"${element(index + 1)}"`).join()}}'`
}

/** The statements that run all day, with arguments as SQL. */
export const HOT: readonly (readonly [Statement<unknown>, string])[] = [
  [claimSteps, `'${WORKER}', '{1,2}', ${BATCH}, '{-Infinity,0}', ${BATCH}, '{1,2}', '{0,2000}'`],
  [claimUndos, `'${WORKER}', '{1,2}', ${BATCH}, '{-Infinity,-Infinity}', ${BATCH}, '{1,2}', '{2000,2000}'`],
  [claimStepsDirectly, `'${WORKER}', '{1,2}', ${BATCH}, '{-Infinity,0}', '{1,2}', '20ms', '{0,2000}'`],
  [claimItems, `'${WORKER}', '{1,2}', ${BATCH}, '{-Infinity,0}', '{1,2}', '20ms', 8, '{0,2000}'`],
  [unpackRanges, `'${WORKER}', '{1,2}', '{-Infinity,0}', 8, '{0,0}'`],
  [findMapped, `'{1,2}'`],
  [readHeldSteps, `'${WORKER}', null`],
  [
    publishValues,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('k')}, ${many('1')}, ${many('1')}, ${many('{}')}, 100`,
  ],
  [observeRunsStatement, RUN_IDS],
  [readRunValues, `'00000000-0000-0000-0000-000000000001'`],
  [trimLeases, `'${WORKER}', 1000`],
  [
    finishAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('completed')}, ${many('{}')}, ${BATCH}, '500ms'`,
  ],
  [
    keptFinishAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('completed')}, ${many('{}')}, ${BATCH}, '500ms'`,
  ],
  [
    finishItems,
    `'${WORKER}', ${RUN_IDS}, ${many('65537')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('completed')}, ${many('{}')}, ${BATCH}, '500ms'`,
  ],
  [
    keptFinishItems,
    `'${WORKER}', ${RUN_IDS}, ${many('65537')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('completed')}, ${many('{}')}, ${BATCH}, '500ms'`,
  ],
  [
    expandMaps,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('k')}, ${many('{}')}, '500ms', ${BATCH}`,
  ],
  [
    keptExpandMaps,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('k')}, ${many('{}')}, '500ms', ${BATCH}`,
  ],
  [
    repeatRounds,
    `'${WORKER}', ${RUN_IDS}, ${many('65537')}, ${many('1')}, ${many('1')}, ${many('{}')}, ${many('2')}, ${many('0')}, ${BATCH}, '500ms'`,
  ],
  [
    keptRepeatRounds,
    `'${WORKER}', ${RUN_IDS}, ${many('65537')}, ${many('1')}, ${many('1')}, ${many('{}')}, ${many('2')}, ${many('0')}, ${BATCH}, '500ms'`,
  ],
  [readItemOutputs, `${RUN_IDS}, ${many('1')}`],
  [findLastRounds, `${RUN_IDS}, ${many('1')}`],
  [
    skipAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('skipped')}, ${many('{}')}, ${BATCH}, '500ms', ${many('{}')}`,
  ],
  [
    keptSkipAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('skipped')}, ${many('{}')}, ${BATCH}, '500ms', ${many('{}')}`,
  ],
  [
    continueAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('failed')}, ${many('{}')}, ${BATCH}, '500ms', ${many('{}')}, ${many('false')}`,
  ],
  [
    keptContinueAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('failed')}, ${many('{}')}, ${BATCH}, '500ms', ${many('{}')}, ${many('false')}`,
  ],
  [decideAttempts, `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, '500ms'`],
  [
    failAfterPivots,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, '500ms', ${many('false')}, ${many('{0}')}`,
  ],
  [
    keptFailAfterPivots,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, '500ms', ${many('false')}, ${many('{0}')}`,
  ],
  [
    failAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, ${many('{}')}, '500ms', ${many('false')}`,
  ],
  [
    keptFailAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, ${many('{}')}, '500ms', ${many('false')}`,
  ],
  [
    requeueAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('true')}, ${many('{}')}, ${many('1')}, ${many('true')}, '500ms'`,
  ],
  [
    keptRequeueAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('false')}, ${many('true')}, ${many('{}')}, ${many('1')}, ${many('true')}, '500ms'`,
  ],
  [
    waitAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, '500ms'`,
  ],
  [
    keptWaitAttempts,
    `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, '500ms'`,
  ],
  [
    deliverSignalsStatement,
    `${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('k')}, ${many('a')}, ${many('{}')}, '500ms', ${many('h')}`,
  ],
  [readRefusedSignals, `${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('k')}`],
  [findRunById, `'${WORKER}'`],
  [findRunByKey, `'w', 'k'`],
  [expireRunsStatement, `500, '{}'`],
  [readUpcoming, `'{1,2}'`],
  [readDueSchedules, '100'],
  [readFailingSchedules, '100'],
  [readNamedSchedules, `${RUN_IDS}, 100`],
  [listSchedules, `'a', null, null, 100`],
  [listDeclaredSchedules, `'a', false, 100`],
  [listSchedulesOf, `'w1', 'a', null, null, 100`],
  [readFiringsOf, `'${'0'.repeat(31)}1', 2147483647, 100`],
  [findOlderRunsStatement, `'{newest,newest}', '{k,null}', 1000`],
  [readQueuedFirings, `'${'0'.repeat(31)}1', 2147483647, 3`],
  [lockSchedules, `${RUN_IDS}, '500ms'`],
  [lockFreeSchedules, RUN_IDS],
  [readOpenFirings, RUN_IDS],
  [deleteSchedules, RUN_IDS],
  [
    insertSchedules,
    `${RUN_IDS}, ${many('w')}, ${many('false')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('r')}, ${many('{}')}, ${many('{}')}`,
  ],
  [
    updateSchedules,
    `${RUN_IDS}, ${many('w')}, ${many('false')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('r')}, ${many('{}')}, ${many('{}')}`,
  ],
  [
    writeFirings,
    `${RUN_IDS}, ${many('11')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('time')}, ${many('started')}, ${RUN_IDS}, ${many('true')}, ${many('r')}, ${RUN_IDS}, ${many('11')}`,
  ],
  [readStatusesStatement, `${RUN_IDS}, false`],
  [recoverSteps, `50, 1000, '${NO_ID}', 0, '${NO_ID}', null`],
  [keptRecoverSteps, `50, 1000, '${NO_ID}', 0, '${NO_ID}', null`],
  [readKeptAttempts, `'${NO_ID}', 200`],
  [journalDeadWorker, '500'],
  [journalDeadWorkerUnread, '500'],
  [readDrainedRuns, `'{1,2}', 100, '{}'`],
  [readDrainedOf, `'{1,2}', 100, '{}', ${RUN_IDS}`],
  [findEndedRuns, `4e12, '{completed,failed}', null, false, 0, '${'0'.repeat(32)}', 10000, ${BATCH}, null`],
  [findPendingApprovals, `null, null, '${'f'.repeat(32)}', null, 1000, 100`],
  [findPendingSignals, `null, null, '${'f'.repeat(32)}', null, 1000, 100`],
  [pruneEndedRuns, `${RUN_IDS}, 4e12`],
  [findEnds, `'{1,2}', '{0,0}', 200`],
  [wakeParentsStatement, RUN_IDS],
  [forgetEnds, `${many('1')}, ${many('5')}`],
  [readCollections, `${many('1')}, ${many('k')}, '500ms'`],
  [findCalls, RUN_IDS],
  [readCollectedCalls, `'${NO_ID}'`],
  [changeCollectingRuns, `${RUN_IDS}, ${many('1')}, ${many('4e12')}, ${many('1')}, null, ${many('f')}, null`],
  [
    writeCollections,
    `${many('1')}, ${many('k')}, ${RUN_IDS}, ${many('batch')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, ${many('1')}, 10, ${RUN_IDS}, ${many('1')}, ${many('1')}, ${RUN_IDS}, ${many('k')}, null, '500ms'`,
  ],
  [releaseRunKeys, `${RUN_IDS}, 4e12`],
  [readHeldByWorker, `'${WORKER}', 100`],
  [countLiveRuns, '100000'],
  [countRecentRuns, `4e12, '${WORKER}'`],
  [readResultsStatement, RUN_IDS],
  [readRunPayloads, RUN_IDS],
  [readStepPayloads, `${RUN_IDS}, ${many('1')}`],
  [readBranchPayloads, `${RUN_IDS}, ${many('1')}`],
  [readHeartbeatDetails, `${RUN_IDS}, ${many('1')}, ${many('k')}`],
  [readStoppingRuns, RUN_IDS],
  [readAttempts, `${RUN_IDS}, ${many('1')}`],
  [awaitAttempts, `${RUN_IDS}, ${many('1')}`],
  [parkUndos, `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, '500ms'`],
  [keptParkUndos, `'${WORKER}', ${RUN_IDS}, ${many('1')}, ${many('1')}, ${many('{}')}, '500ms'`],
  [cancelLeftovers, RUN_IDS],
  [cancelRunsStatement, `${RUN_IDS}, '{}', 'cancellation', 'cancel', null, null, '500ms', '{}'`],
  [
    beginUndos,
    `${RUN_IDS}, ${many('compensated')}, ${many('1')}, ${many('1')}, '{1}', '{0}', '${WORKER}', ${BATCH}, ${many('1')}, '500ms'`,
  ],
]

/** What reads the queue as a whole, which is as small as what is to be done: of these only runs and steps are looked up. */
export const READING_THE_QUEUE: typeof HOT = [
  [readStrandedSteps, '10000, 60000'],
  [placeLate, `1000, '-Infinity'`],
]
